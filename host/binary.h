/* SPDX-License-Identifier: Apache-2.0
 *
 * binary.h - built programs that outlive the process: which bytes a driver
 * makes of a program, and on what they depend.
 */
#ifndef CLATTN_HOST_BINARY_H
#define CLATTN_HOST_BINARY_H

#include "context.h"

/*
 * The key under which a program is kept: all that its binary depends on, one
 * line each, the caller's to free.  NULL if none is kept: the cache is off, or
 * something cannot be told.
 */
char *binary_key(const clattn_context *ctx, const char *name,
    const char *options, const char *source);

/* The program that was kept under `key`, built for the context's device; NULL if
   there is none or the driver declines it.  key may be NULL here and below. */
cl_program binary_load(
    const clattn_context *ctx, const char *key, const char *options);

/* Keeps what the driver made of a program for the context's device. */
void binary_store(
    const clattn_context *ctx, const char *key, cl_program program);

/* A short text that was kept under `key` instead; false if there is none. */
bool binary_recall(
    const clattn_context *ctx, const char *key, char *text, size_t capacity);
void binary_note(const clattn_context *ctx, const char *key, const char *text);

/* Keeps it no longer. */
void binary_forget(const clattn_context *ctx, const char *key);

#endif
