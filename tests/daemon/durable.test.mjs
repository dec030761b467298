// The daemon's life from outside: kill -9 and a restart over the same store, SIGTERM that drains, and what an idle
// daemon costs.
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { tmpdir } from 'node:os';
import { connect, request, sleep, startDaemon, until, verifies } from './support.mjs';

let dir;
before(() => { dir = mkdtempSync(join(tmpdir(), 'cuzk-durable-')); });
after(() => rmSync(dir, { recursive: true, force: true }));
const store = (name, more = {}) => ({ store: { url: `sqlite:${join(dir, name)}.db` }, ...more });

// Memory that is the process's own, and processor time used, in MB and ms.
function cost(pid) {
  const rss = Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024;
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return { rss, cpu: (Number(stat[11]) + Number(stat[12])) * 10 };
}

test('killed, a daemon loses no accepted job', async () => {
  let d = await startDaemon({ toml: store('killed') });
  let c = connect(d.address);
  const ids = [];
  for (let i = 0; i < 5; i++)
    ids.push((await c.SubmitProof(request('window-2k-3sectors', { request_id: `wdpost-1000-${i}` }))).job_id);
  await until(async () => (await c.GetStatus({})).total_proofs_completed > 0, 'some are proved, others not');
  c.close();
  await d.stop('SIGKILL');
  d = await startDaemon({ toml: store('killed') });
  c = connect(d.address);
  for (const id of ids) {
    const r = await c.AwaitProof({ job_id: id });
    assert.equal(r.status, 'COMPLETED', r.error_message);
    assert.ok(verifies('window-2k-3sectors', r.proof, d.dir));
  }
  const again = await c.SubmitProof(request('window-2k-3sectors', { request_id: 'wdpost-1000-0' }));
  assert.equal(again.job_id, ids[0], 'the same request finds its proof');
  c.close();
  assert.equal((await d.stop()).code, 0, d.log);
});

test('SIGTERM: what runs ends, what waits is kept, clients are told', async () => {
  let d = await startDaemon({ toml: store('drained', { pipeline: { synthesis_lookahead: 0 } }) });
  let c = connect(d.address);
  const ids = [];
  for (let i = 0; i < 5; i++) // one is proved, two are parsed, two wait
    ids.push((await c.SubmitProof(request('update-2k-5', { request_id: `snap-1000-${i}` }))).job_id);
  const waits = ids.map((job_id) => c.AwaitProof({ job_id }).catch((e) => ({ status: 'GONE', error_message: e.details })));
  await until(async () => (await c.GetStatus({})).gpus[0].current_job_id, 'one runs');
  assert.equal((await d.stop('SIGTERM')).code, 0, d.log);
  const told = await Promise.all(waits);
  c.close();
  for (const r of told)
    assert.ok(r.status === 'COMPLETED' || /stopping|UNAVAILABLE|closed|reset/i.test(r.error_message), JSON.stringify(r));
  assert.ok(told.some((r) => /next start/.test(r.error_message)), 'queued jobs are kept');
  d = await startDaemon({ toml: store('drained') });
  c = connect(d.address);
  for (const id of ids)
    assert.equal((await c.AwaitProof({ job_id: id })).status, 'COMPLETED');
  c.close();
  await d.stop();
});

test('a second daemon on the same store is refused', async () => {
  const d = await startDaemon({ toml: store('shared') });
  const second = await startDaemon({ toml: store('shared') });
  await second.ended;
  assert.notEqual(second.exited.code, 0);
  assert.match(second.log, /in use by another process/);
  await second.stop();
  await d.stop();
});

// The configuration is the default one but for where it listens and where its files are.
test('idle, it costs next to nothing', async () => {
  const d = await startDaemon({ toml: store('idle', { daemon: { status_listen: '127.0.0.1:0' } }) });
  const c = connect(d.address);
  await c.GetStatus({});
  c.close();
  // Three quiet seconds: what the start has left to do may take a while on a busy machine, but it ends.
  let after_, spent;
  for (let tries = 0; tries < 10; tries++) {
    const before_ = cost(d.child.pid);
    await sleep(3000);
    after_ = cost(d.child.pid);
    spent = after_.cpu - before_.cpu;
    if (spent <= 20) break;
  }
  console.log(`# RSS ${after_.rss.toFixed(1)} MB, ${spent} ms of processor time in 3 s`);
  assert.ok(after_.rss < 30, `${after_.rss} MB`);
  assert.ok(spent <= 20, `${spent} ms`);
  await d.stop();
});
