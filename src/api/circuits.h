/* Circuits and parameter files by name: compiled systems come from a cache folder, or are compiled and put
 * there. */
#ifndef API_CIRCUITS_H
#define API_CIRCUITS_H
#include "filecoin/registry.h"
#include "gadgets/poseidon.h"
#include "groth16/groth16.h"

/* The folder for compiled circuits: $CUZK_CACHE, else $XDG_CACHE_HOME/cuzk, else $HOME/.cache/cuzk, else
 * /var/cache/cuzk. */
void circuit_cache_dir(char *out, size_t size);
/* Compiles what info describes, without any cache. */
cuzk_status circuit_compile(r1cs **out, const circuit_info *info, const poseidon_set *ps,
                            cuzk_error *err) CUZK_MUST_CHECK;
/* Maps the compiled circuit from cache_dir (NULL: no cache); compiles and saves it if it is not there or does
 * not read. A folder that cannot be written to costs a warning in the log, nothing else. */
cuzk_status circuit_open(r1cs **out, const circuit_info *info, const poseidon_set *ps, const char *cache_dir,
                         cuzk_error *err) CUZK_MUST_CHECK;

/* Path of a circuit's file (suffix ".params" or ".vk") in dir: the registered name, or, with allow_test and
 * only if that is missing, the one with the prefix TEST-. *is_test (NULL allowed) says which. CUZK_NOT_FOUND
 * names the file. */
cuzk_status params_find(char *out, size_t size, const char *dir, const circuit_info *info, const char *suffix,
                        int allow_test, int *is_test, cuzk_error *err) CUZK_MUST_CHECK;
/* dir, or where it is NULL: $FIL_PROOFS_PARAMETER_CACHE, else /var/tmp/filecoin-proof-parameters. */
const char *params_dir_or_default(const char *dir);
#endif
