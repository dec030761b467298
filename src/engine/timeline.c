/* The timeline of a job as an array. */
#include "base/mem.h"
#include "engine/internal.h"

cuzk_status engine_stages(engine *e, const char *job_id, engine_stage **out, size_t *count, cuzk_error *err)
{
    *out = NULL;
    *count = 0;
    cuzk_status s = CUZK_OK;
    pthread_mutex_lock(&e->lock);
    const job *j = job_find_locked(e, job_id);
    engine_stage *list = j ? mem_calloc(j->event_count, sizeof(*list)) : NULL;
    if (!j)
        s = cuzk_error_set(err, CUZK_NOT_FOUND, "there is no job \"%.60s\"", job_id);
    else if (!list)
        s = mem_error(err, j->event_count * sizeof(*list), "a timeline");
    for (size_t i = 0; !s && i < j->event_count; i++) {
        const stage_event *v = &j->event[i];
        list[i] = (engine_stage){stage_text(v->stage), v->partition, v->device,
                                 (double)(v->start_ns - j->submitted_ns) / 1e6,
                                 (double)(v->end_ns - j->submitted_ns) / 1e6};
    }
    if (!s) {
        *out = list;
        *count = j->event_count;
    }
    pthread_mutex_unlock(&e->lock);
    return s;
}
