/* cuzk doctor: processor, memory, devices. */
#include "base/cpu.h"
#include "base/mem.h"
#include "cli/doctor.h"
#include "cuzk/backend.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void doctor_look_at_processor(doctor *d)
{
    const cpu_features *f = cpu_get();
    int ifma = doctor_pretended("ifma", f->ifma) != 0, sha = doctor_pretended("sha", f->sha_ni) != 0;
    const char *forced = getenv("CUZK_CPU");
    if (forced && (!strcmp(forced, "portable") || !strcmp(forced, "scalar")))
        doctor_say(d, NOTE, "processor",
                   "%s; CUZK_CPU=%s forces the scalar code: unset it, proofs take several times longer",
                   f->name, forced);
    else if (ifma)
        doctor_say(d, FINE, "processor",
                   "%s, %u threads; AVX-512 IFMA is in use, eight field elements at once", f->name,
                   pool_processors());
    else
        doctor_say(d, NOTE, "processor",
                   "%s, %u threads; no AVX-512 IFMA, so the scalar code is in use: CPU proofs take several "
                   "times longer (a virtual machine must pass it through)",
                   f->name, pool_processors());
    if (!sha)
        doctor_say(d, NOTE, "processor",
                   "no SHA instructions: digests of circuits and parameters take longer");
}

static void look_at_hugepages(doctor *d)
{
    FILE *f = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "re");
    char mode[64] = "";
    int never = f && fgets(mode, sizeof(mode), f) && strstr(mode, "[never]");
    if (doctor_pretended("hugepages", !never) == 0)
        doctor_say(d, NOTE, "hugepages",
                   "transparent huge pages are off; sums and transforms run faster with them: echo madvise > "
                   "/sys/kernel/mm/transparent_hugepage/enabled");
    else
        doctor_say(d, FINE, "hugepages", "transparent huge pages are available");
    if (f)
        fclose(f);
}

void doctor_look_at_memory(doctor *d)
{
    double available = doctor_pretended("memory", (double)mem_available_bytes() / DOCTOR_GIB);
    double budget = (double)d->plan.memory_budget / DOCTOR_GIB;
    if (available < 4)
        doctor_say(d, PROBLEM, "memory",
                   "%.1f GiB are available; 2 KiB circuits need 2 GiB, 32 GiB circuits 32 GiB and more: stop "
                   "other programs or add memory",
                   available);
    else
        doctor_say(d, available < 48 ? NOTE : FINE, "memory", "%.1f GiB are available%s", available,
                   available < 48 ? "; a 32 GiB PoRep or WindowPoSt on the CPU needs about 48 GiB" : "");
    if (budget > available)
        doctor_say(
            d, PROBLEM, "memory",
            "memory.total_budget is %.1f GiB, more than the %.1f GiB that are available: the kernel may "
            "kill the daemon; lower it, or set it to \"auto\"",
            budget, available);
    look_at_hugepages(d);
}

/* ---- devices ---- */

static unsigned long read_hex(const char *device, const char *name)
{
    char path[512], text[32] = "";
    snprintf(path, sizeof(path), "/sys/bus/pci/devices/%.200s/%s", device, name);
    FILE *f = fopen(path, "re");
    unsigned long v = f && fgets(text, sizeof(text), f) ? strtoul(text, NULL, 16) : 0;
    if (f)
        fclose(f);
    return v;
}

/* Display and compute controllers of NVIDIA on the PCI bus. */
static unsigned count_nvidia(void)
{
    unsigned n = 0;
    DIR *dir = opendir("/sys/bus/pci/devices");
    for (struct dirent *e; dir && (e = readdir(dir));)
        n += *e->d_name != '.' && read_hex(e->d_name, "vendor") == 0x10de &&
             read_hex(e->d_name, "class") >> 16 == 3;
    if (dir)
        closedir(dir);
    return n;
}

/* Why a GPU that is in the machine may be of no use. Returns whether something was said. */
static int look_at_driver(doctor *d, verdict v)
{
    if (doctor_pretended("gpu_hardware", count_nvidia()) == 0)
        return 0;
    if (doctor_pretended("gpu_driver", !access("/proc/driver/nvidia/version", F_OK)) == 0) {
        doctor_say(d, v, "gpu",
                   "there is an NVIDIA GPU, but its driver is not loaded: install the driver of NVIDIA (in a "
                   "container: run it with the GPUs)");
        return 1;
    }
    if (doctor_pretended("gpu_uvm", !access("/dev/nvidia-uvm", F_OK)) == 0) {
        doctor_say(
            d, v, "gpu",
            "/dev/nvidia-uvm is missing, and a service may not make it: run nvidia-modprobe -u -c=0 at "
            "boot");
        return 1;
    }
    if (doctor_pretended("gpu_access", !access("/dev/nvidiactl", R_OK | W_OK)) == 0) {
        doctor_say(d, v, "gpu",
                   "user %u may not use /dev/nvidiactl: put the user into the group that owns it (ls -l "
                   "/dev/nvidia*)",
                   (unsigned)getuid());
        return 1;
    }
    return 0;
}

static void look_at_device(doctor *d, const cuzk_backend *b, uint32_t i)
{
    cuzk_error e = {0};
    cuzk_device_info info;
    if (b->device_describe(i, &info, &e)) {
        doctor_say(d, PROBLEM, "gpu", "device %u: %s", i, e.message);
        return;
    }
    double gib = doctor_pretended("vram", (double)info.memory_total / DOCTOR_GIB);
    if (gib < 16)
        doctor_say(d, NOTE, "gpu",
                   "device %u: %s, %.0f GiB; below 16 GiB circuits of 32 GiB are proved in small chunks", i,
                   info.name, gib);
    else
        doctor_say(d, FINE, "gpu", "device %u: %s, %.0f GiB, %s", i, info.name, gib, info.detail);
}

void doctor_look_at_devices(doctor *d)
{
    const cuzk_backend *b;
    cuzk_error e = {0};
    uint32_t count = 0;
    int needed = !strcmp(d->plan.backend, "cuda");
    if (!strcmp(d->plan.backend, "cpu")) {
        doctor_say(d, NOTE, "gpu", "gpus.backend is \"cpu\": GPUs are left alone");
        return;
    }
    int said = look_at_driver(d, needed ? PROBLEM : NOTE);
    if (cuzk_backend_load(&b, NULL, &e) || b->device_count(&count, &e)) {
        if (needed)
            doctor_say(d, PROBLEM, "gpu", "gpus.backend is \"cuda\", but no device can be used: %s",
                       e.message);
        else if (!said)
            doctor_say(d, NOTE, "gpu", "proofs are made on the CPU: %s", e.message);
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        look_at_device(d, b, i);
    for (size_t i = 0; i < d->plan.device_count; i++)
        if (d->plan.device[i] >= count)
            doctor_say(d, PROBLEM, "gpu",
                       "gpus.devices names device %llu, but there are %u: correct the list",
                       (unsigned long long)d->plan.device[i], count);
}
