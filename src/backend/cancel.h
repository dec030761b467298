/* How a cancel_token crosses the back end's interface, which knows only a callback. */
#ifndef BACKEND_CANCEL_H
#define BACKEND_CANCEL_H
#include "base/clock.h"
/* A cuzk_cancel_fn whose ctx is a cancel_token. The CPU back end recognises it and hands the token down to
 * the sums, which then stop within some tens of milliseconds; any other callback is asked between operations.
 */
int cancel_token_poll(void *token);
#endif
