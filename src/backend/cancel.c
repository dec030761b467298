#include "backend/cancel.h"

int cancel_token_poll(void *token)
{
    return cancel_check(token) != 0;
}
