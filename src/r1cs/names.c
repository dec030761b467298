/* Names of rows: a tree of pushes, made only where rows lie under it. */
#include "base/mem.h"
#include "r1cs/builder.h"

void names_clear(names *n)
{
    mem_free(n->frame);
    mem_free(n->node);
    mem_free(n->text);
    mem_free(n->slot);
    *n = (names){0};
}

int names_push(names *n, const char *name, int64_t index)
{
    if (!vec_grow(&n->frame, &n->frame_cap, n->depth + 1, sizeof(name_frame)))
        return 0;
    n->frame[n->depth++] = (name_frame){name, index, PATH_NONE};
    n->moved = 1;
    return 1;
}

void names_pop(names *n)
{
    if (n->depth)
        n->depth--;
    n->moved = 1;
}

static size_t slot_of(const struct name_slot *slot, size_t slots, const char *pointer)
{
    size_t at = (size_t)((uintptr_t)pointer * 0x9e3779b97f4a7c15u >> 20) & (slots - 1);
    while (slot[at].pointer && slot[at].pointer != pointer)
        at = (at + 1) & (slots - 1);
    return at;
}

static int grow_slots(names *n)
{
    size_t slots = n->slots ? n->slots * 2 : 256;
    struct name_slot *slot = mem_calloc(slots, sizeof(*slot));
    if (!slot)
        return 0;
    for (size_t i = 0; i < n->slots; i++)
        if (n->slot[i].pointer)
            slot[slot_of(slot, slots, n->slot[i].pointer)] = n->slot[i];
    mem_free(n->slot);
    n->slot = slot;
    n->slots = slots;
    return 1;
}

/* Offset of a literal in the string table. */
static int intern_name(names *n, const char *name, uint32_t *offset)
{
    if (n->used * 2 >= n->slots && !grow_slots(n))
        return 0;
    struct name_slot *s = &n->slot[slot_of(n->slot, n->slots, name)];
    if (!s->pointer) {
        size_t length = strlen(name) + 1;
        if (n->text_size + length > UINT32_MAX || !vec_grow(&n->text, &n->text_cap, n->text_size + length, 1))
            return 0;
        memcpy(n->text + n->text_size, name, length);
        *s = (struct name_slot){name, (uint32_t)n->text_size};
        n->text_size += length;
        n->used++;
    }
    *offset = s->offset;
    return 1;
}

int names_node(names *n, uint32_t *node)
{
    uint32_t parent = PATH_NONE;
    for (size_t i = 0; i < n->depth; i++) {
        name_frame *f = &n->frame[i];
        if (f->node == PATH_NONE) {
            path_node made = {parent, 0, f->index};
            if (n->node_count >= PATH_NONE || !intern_name(n, f->name, &made.name) ||
                !vec_grow(&n->node, &n->node_cap, n->node_count + 1, sizeof(path_node)))
                return 0;
            n->node[n->node_count] = made;
            f->node = (uint32_t)n->node_count++;
        }
        parent = f->node;
    }
    *node = parent;
    return 1;
}
