/* SPDX-License-Identifier: Apache-2.0
 *
 * has_device.c - exit status 0 if some OpenCL platform has a device.
 */
#include <CL/cl.h>

enum {
    MANY = 64
};

int main(void)
{
    cl_platform_id platforms[MANY];
    cl_uint n_platforms = 0;

    if (clGetPlatformIDs(MANY, platforms, &n_platforms) != CL_SUCCESS)
        return 1;
    for (cl_uint i = 0; i < n_platforms && i < MANY; ++i) {
        cl_uint n_devices = 0;
        if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 0, NULL,
                &n_devices) == CL_SUCCESS &&
            n_devices > 0)
            return 0;
    }
    return 1;
}
