// A device that fails is set aside, seen from outside in every place that shows it, and taken back by hand.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { connect, env, grpc, request, startDaemon, until } from './support.mjs';

const EMULATED = join(dirname(env.cuzk), '..', 'lib', 'libcuzk_cuda_emu.so');
const shell = (d, ...args) => execFileSync(env.cuzk, [...args, '--addr', d.address], { stdio: 'pipe' }).toString();

test('cuzk device clear, with nothing to clear', async () => {
  const d = await startDaemon();
  const c = connect(d.address);
  assert.equal((await c.GetStatus({})).gpus[0].quarantined, false);
  assert.equal((await c.ClearQuarantine({ ordinal: 0 })).was_set_aside, false);
  await assert.rejects(c.ClearQuarantine({ ordinal: 9 }), { code: grpc.status.NOT_FOUND });
  const run = (...args) => shell(d, 'device', 'clear', ...args);
  assert.deepEqual(JSON.parse(run('0', '--json')), { device: 0, was_set_aside: false });
  assert.match(run('0'), /was not set aside/);
  assert.throws(() => run('9'), (e) => e.status !== 0 && /no device 9/.test(e.stderr.toString()));
  assert.throws(() => run('first'), (e) => e.status === 2);
  c.close();
  await d.stop();
});

test('a device that fails again and again', async (ctx) => {
  if (!existsSync(EMULATED)) return ctx.skip('the emulated device is not built');
  // The plug-in is looked for beside the program. After the first launch every call of this device fails.
  const dir = mkdtempSync(join(tmpdir(), 'cuzk-device-'));
  const program = join(dir, 'cuzk-daemon');
  copyFileSync(env.daemon, program);
  copyFileSync(EMULATED, join(dir, 'libcuzk-cuda.so'));
  const d = await startDaemon({ program, variables: { CUZK_EMU_FAIL_LAUNCH: '1' },
    toml: { gpus: { backend: 'cuda', quarantine: '0' }, daemon: { status_listen: '127.0.0.1:0' } } });
  assert.ok(d.port, d.log);
  const c = connect(d.address);
  const page = `http://127.0.0.1:${/status page on .*\(port (\d+)\)/.exec(d.log)[1]}`;
  const setAside = async () => (await c.GetStatus({})).gpus[0].quarantined;
  // two attempts for the first job, one for the second: three failures in a row
  const first = (await c.Prove({ submit: request('winning-2k-1', { request_id: 'first' }) })).result;
  assert.equal(first.status, 'FAILED');
  assert.match(first.error_message, /device cuda 0/);
  assert.equal(await setAside(), false);
  const { job_id } = await c.SubmitProof(request('winning-2k-1', { request_id: 'second' }));
  await until(setAside, 'the device is set aside');
  assert.equal((await c.AwaitProof({ job_id, timeout_ms: 300 })).status, 'TIMEOUT', 'no device is left, the job waits');
  assert.match((await c.GetMetrics({})).prometheus_text, /cuzk_device_quarantined\{backend="cuda",device="0"\} 1/);
  assert.equal((await fetch(page + '/readyz')).status, 503);
  assert.equal((await (await fetch(page + '/status')).json()).devices[0].quarantined, true);
  assert.match(shell(d, 'status'), /set aside after failures \(cuzk device clear\)/);
  assert.match(shell(d, 'top'), /set aside/);
  // taken back, it is tried with the job that waited, which ends
  assert.deepEqual(JSON.parse(shell(d, 'device', 'clear', '0', '--json')), { device: 0, was_set_aside: true });
  assert.equal((await c.AwaitProof({ job_id })).status, 'FAILED');
  assert.equal(await setAside(), false, 'one failure is not three');
  assert.equal((await fetch(page + '/readyz')).status, 200);
  // and set aside again, taken back in words
  const { job_id: third } = await c.SubmitProof(request('winning-2k-1', { request_id: 'third' }));
  await until(setAside, 'the device is set aside again');
  assert.match(shell(d, 'device', 'clear', '0'), /device 0 is in use again/);
  await c.CancelProof({ job_id: third });
  c.close();
  assert.equal((await d.stop()).code, 0, d.log);
  rmSync(dir, { recursive: true, force: true });
});
