// toml++ behind a C function: no exception leaves this file.
#define TOML_EXCEPTIONS 1
#include "engine/config_private.h"
#include <cstdio>
#include <exception>
#include <string>
#include <toml++/toml.h>

static std::string text_of(const toml::node &n)
{
    if (auto s = n.as_string())
        return s->get();
    if (auto i = n.as_integer())
        return std::to_string(i->get());
    if (auto b = n.as_boolean())
        return b->get() ? "true" : "false";
    if (auto a = n.as_array()) {
        std::string all;
        for (auto &&item : *a)
            all += (all.empty() ? "" : ",") + text_of(item);
        return "[" + all + "]";
    }
    if (auto f = n.as_floating_point())
        return std::to_string(f->get());
    return "?";
}

extern "C" int toml_read(const char *path,
                         void (*value)(void *, const char *, const char *, const char *, int), void *ctx,
                         char *message, size_t message_size)
{
    try {
        toml::table file = toml::parse_file(path);
        for (auto &&[table, node] : file) {
            std::string name(table.str());
            auto inner = node.as_table();
            if (!inner) {
                value(ctx, "", name.c_str(), text_of(node).c_str(),
                      static_cast<int>(node.source().begin.line));
                continue;
            }
            for (auto &&[key, item] : *inner)
                value(ctx, name.c_str(), std::string(key.str()).c_str(), text_of(item).c_str(),
                      static_cast<int>(item.source().begin.line));
        }
        return 0;
    } catch (const toml::parse_error &e) {
        std::string what(e.description());
        snprintf(message, message_size, "%s, line %u: %s", path, static_cast<unsigned>(e.source().begin.line),
                 what.c_str());
    } catch (const std::exception &e) {
        snprintf(message, message_size, "%s: %s", path, e.what());
    } catch (...) {
        snprintf(message, message_size, "%s cannot be read", path);
    }
    return -1;
}
