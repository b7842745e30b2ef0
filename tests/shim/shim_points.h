/* SPDX-License-Identifier: Apache-2.0
 *
 * shim_points.h - the calls that can be made to fail.
 */
#ifndef CLATTN_TESTS_SHIM_POINTS_H
#define CLATTN_TESTS_SHIM_POINTS_H

/* All that the library and the program call, and what else makes objects; a
   call that is new to them belongs here, in shim_opencl.c and in the codes of
   support/documented.c. */
#define SHIM_OPENCL(X)             \
    X(clGetPlatformIDs)            \
    X(clGetPlatformInfo)           \
    X(clGetDeviceIDs)              \
    X(clGetDeviceInfo)             \
    X(clCreateContext)             \
    X(clRetainContext)             \
    X(clReleaseContext)            \
    X(clGetContextInfo)            \
    X(clCreateCommandQueue)        \
    X(clReleaseCommandQueue)       \
    X(clGetCommandQueueInfo)       \
    X(clCreateBuffer)              \
    X(clCreateSubBuffer)           \
    X(clReleaseMemObject)          \
    X(clGetMemObjectInfo)          \
    X(clCreateProgramWithSource)   \
    X(clCreateProgramWithBinary)   \
    X(clBuildProgram)              \
    X(clReleaseProgram)            \
    X(clGetProgramInfo)            \
    X(clGetProgramBuildInfo)       \
    X(clCreateKernel)              \
    X(clReleaseKernel)             \
    X(clGetKernelWorkGroupInfo)    \
    X(clSetKernelArg)              \
    X(clEnqueueNDRangeKernel)      \
    X(clEnqueueMarkerWithWaitList) \
    X(clEnqueueReadBuffer)         \
    X(clEnqueueWriteBuffer)        \
    X(clCreateUserEvent)           \
    X(clGetEventInfo)              \
    X(clReleaseEvent)              \
    X(clFinish)

/* `write` is the program's own, and that of a stream that is opened for writing,
   or of standard output where the environment steers: stdio's own calls cannot
   be seen from outside.  `close` is such a stream's alone. */
#define SHIM_SYSTEM(X) \
    X(malloc)          \
    X(calloc)          \
    X(realloc)         \
    X(strdup)          \
    X(open)            \
    X(openat)          \
    X(mkdir)           \
    X(fopen)           \
    X(fdopen)          \
    X(write)           \
    X(close)           \
    X(rename)          \
    X(renameat)

#define SHIM_POINT(name) SHIM_##name,
enum shim_point {
    SHIM_OPENCL(SHIM_POINT) SHIM_SYSTEM(SHIM_POINT) SHIM_POINTS
};
#undef SHIM_POINT

#endif
