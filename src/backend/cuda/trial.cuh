// Forms under trial: CUZK_CUDA_OLD=forward,keys,... in the environment takes the earlier form of each part
// that it names, so that one run of the bench measures both. Removed with the losing forms.
#pragma once
#include <stdlib.h>
#include <string.h>

namespace gpu
{
inline bool old_form(const char *part)
{
    const char *list = getenv("CUZK_CUDA_OLD");
    return list && strstr(list, part);
}
} // namespace gpu
