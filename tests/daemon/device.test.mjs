// A device that was set aside is taken back by hand.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { connect, env, grpc, startDaemon } from './support.mjs';

test('cuzk device clear', async () => {
  const d = await startDaemon();
  const c = connect(d.address);
  assert.equal((await c.GetStatus({})).gpus[0].quarantined, false);
  const clear = (request) => new Promise((resolve, reject) =>
    c.raw.ClearQuarantine(request, (e, r) => (e ? reject(e) : resolve(r))));
  assert.equal((await clear({ ordinal: 0 })).was_set_aside, false);
  await assert.rejects(clear({ ordinal: 9 }), { code: grpc.status.NOT_FOUND });
  const run = (...args) => execFileSync(env.cuzk, ['device', 'clear', ...args, '--addr', d.address], { stdio: 'pipe' }).toString();
  assert.deepEqual(JSON.parse(run('0', '--json')), { device: 0, was_set_aside: false });
  assert.match(run('0'), /was not set aside/);
  assert.throws(() => run('9'), (e) => e.status !== 0 && /no device 9/.test(e.stderr.toString()));
  assert.throws(() => run('first'), (e) => e.status === 2);
  c.close();
  await d.stop();
});
