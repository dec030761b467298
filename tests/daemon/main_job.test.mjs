// The main job through a real client: a C1 document in, a verified proof out, over TCP and a unix socket.
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { connect, env, golden, grpc, request, startDaemon, until, verifies } from './support.mjs';

let d, c;
before(async () => {
  d = await startDaemon();
  assert.ok(d.port, d.log);
  c = connect(d.address);
});
after(async () => {
  c.close();
  const r = await d.stop();
  assert.equal(r.code, 0, d.log);
  assert.equal(d.out, '', 'the daemon writes nothing to stdout');
});

test('submit, await: a 2 KiB PoRep', async () => {
  const s = await c.SubmitProof(request('porep-2k-v1_1-1'));
  assert.match(s.job_id, /^[0-9a-f-]{36}$/);
  const again = await c.SubmitProof(request('porep-2k-v1_1-1'));
  assert.equal(again.job_id, s.job_id, 'the same request joins');
  const r = await c.AwaitProof({ job_id: s.job_id });
  assert.equal(r.status, 'COMPLETED', r.error_message);
  assert.equal(r.proof.length, 192);
  assert.ok(r.total_ms >= r.synthesis_ms);
  assert.ok(verifies('porep-2k-v1_1-1', r.proof, d.dir));
  const same = await c.AwaitProof({ job_id: s.job_id });
  assert.deepEqual(same.proof, r.proof, 'a finished proof stays');
});

test('prove: every kind', async () => {
  for (const name of ['winning-2k-1', 'window-2k-3sectors', 'window-v1-2k-2sectors', 'update-2k-5']) {
    const r = (await c.Prove({ submit: request(name) })).result;
    assert.equal(r.status, 'COMPLETED', `${name}: ${r.error_message}`);
    assert.ok(verifies(name, r.proof, d.dir), name);
  }
});

test('vanilla proofs in another order give the same valid proof', async () => {
  const q = request('window-2k-3sectors', { request_id: 'wdpost-shuffled' });
  q.vanilla_proofs.reverse();
  const r = (await c.Prove({ submit: q })).result;
  assert.equal(r.status, 'COMPLETED', r.error_message);
  assert.ok(verifies('window-2k-3sectors', r.proof, d.dir));
});

test('what is malformed is INVALID_ARGUMENT and names the field', async () => {
  const cases = [
    [{ randomness: Buffer.alloc(31) }, 'window-2k-1sector', /randomness.*31/],
    [{ registered_proof: 99 }, 'window-2k-1sector', /registered_proof 99/],
    [{ registered_proof: 0 }, 'window-2k-1sector', /proof_kind/],
    [{ vanilla_proofs: [] }, 'window-2k-1sector', /vanilla_proofs/],
    [{ sector_size: 4096 }, 'window-2k-1sector', /sector_size/],
    [{ request_id: '' }, 'window-2k-1sector', /request_id/],
    [{ proof_kind: 'PROOF_KIND_UNSPECIFIED' }, 'window-2k-1sector', /proof_kind/],
    [{ vanilla_proof: Buffer.alloc(0) }, 'porep-2k-v1_1-1', /vanilla_proof/],
    [{ comm_d_new: Buffer.alloc(33) }, 'update-2k-5', /comm_d_new.*33/],
    [{ vanilla_proofs: [] }, 'update-2k-5', /vanilla_proofs/],
  ];
  for (const [extra, name, pattern] of cases)
    await assert.rejects(c.SubmitProof(request(name, extra)), (e) => {
      assert.equal(e.code, grpc.status.INVALID_ARGUMENT, `${JSON.stringify(extra)}: ${e.details}`);
      assert.match(e.details, pattern);
      return true;
    });
  await assert.rejects(c.SubmitProof({}), { code: grpc.status.INVALID_ARGUMENT });
  await assert.rejects(c.Prove({}), { code: grpc.status.INVALID_ARGUMENT });
});

test('a proof that cannot be made is an OK reply with FAILED', async () => {
  const cut = request('porep-2k-v1_1-2', { request_id: 'cut' });
  cut.vanilla_proof = cut.vanilla_proof.subarray(0, cut.vanilla_proof.length / 2);
  let r = (await c.Prove({ submit: cut })).result;
  assert.equal(r.status, 'FAILED');
  assert.ok(r.error_message.length > 20, r.error_message);
  assert.equal(r.proof.length, 0);
  // a client of protobuf refuses a whole reply for one byte that is not UTF-8, so the sentence must not quote it
  const document = JSON.parse(request('porep-2k-v1_1-2').vanilla_proof);
  const inner = Buffer.from(document.Phase1Out, 'base64');
  inner[inner.indexOf('StackedDrg2KiBV1_1') + 10] = 0xcb;
  r = (await c.Prove({ submit: request('porep-2k-v1_1-2', { request_id: 'latin', vanilla_proof: inner }) })).result;
  assert.equal(r.status, 'FAILED');
  assert.match(r.error_message, /StackedDrg\?KiBV1_1/);
  const other = request('porep-2k-v1_1-2', { request_id: 'miner', miner_id: 4711 });
  r = (await c.Prove({ submit: other })).result;
  assert.equal(r.status, 'FAILED');
  assert.match(r.error_message, /replica_id/);
  const wrong = request('window-2k-3sectors', { request_id: 'w', randomness: Buffer.alloc(32, 7) });
  r = (await c.Prove({ submit: wrong })).result;
  assert.equal(r.status, 'FAILED');
  assert.match(r.error_message, /sector 13\d\d/);
});

test('unknown jobs and methods', async () => {
  await assert.rejects(c.AwaitProof({ job_id: 'no-such' }), { code: grpc.status.NOT_FOUND });
  await assert.rejects(c.CancelProof({ job_id: 'no-such' }), { code: grpc.status.NOT_FOUND });
  await assert.rejects(c.PreloadSRS({ circuit_id: 'porep-3k' }), { code: grpc.status.INVALID_ARGUMENT });
  await assert.rejects(new Promise((resolve, reject) => c.raw.makeUnaryRequest('/cuzk.v1.ProvingEngine/Nothing', (x) => x, (x) => x,
    Buffer.alloc(0), (e, r) => (e ? reject(e) : resolve(r)))), { code: grpc.status.UNIMPLEMENTED });
  await assert.rejects(new Promise((resolve, reject) => c.raw.makeUnaryRequest('/cuzk.v1.ProvingEngine/SubmitProof', (x) => x, (x) => x,
    Buffer.from([0xff, 0xff, 0xff]), (e, r) => (e ? reject(e) : resolve(r)))), { code: grpc.status.INVALID_ARGUMENT });
});

test('messages: 300 MiB is refused, the daemon lives on', async () => {
  await assert.rejects(c.SubmitProof({ request_id: 'big', vanilla_proof: Buffer.alloc(300 << 20) }), { code: grpc.status.RESOURCE_EXHAUSTED });
  assert.ok((await c.GetStatus({})).uptime_seconds >= 0);
});

test('the 51 MB document is taken in, parsed and checked, and fails by the name of the missing file', async () => {
  const q = request('porep-32g-1');
  const start = Date.now();
  const s = await c.SubmitProof(q);
  const took = Date.now() - start;
  const r = await c.AwaitProof({ job_id: s.job_id });
  assert.equal(r.status, 'FAILED');
  assert.match(r.error_message, /v28-stacked-proof-of-replication.*\.params.*missing/);
  console.log(`submit of ${q.vanilla_proof.length} bytes answered in ${took} ms`);
});

test('the shell tool: submit names the sector, looks at --out first, waits, await and cancel', async () => {
  const c1 = join(d.dir, 'c1.json');
  writeFileSync(c1, request('porep-2k-v1_1-1').vanilla_proof);
  const cuzk = (...args) => {
    const r = spawnSync(env.cuzk, [...args, '--addr', d.address, '--json'], { encoding: 'utf8' });
    return { code: r.status, answer: JSON.parse(r.stdout) };
  };
  const submit = (...args) => cuzk('submit', 'porep', '--c1', c1, '--miner-id', '1000', ...args);
  const queued = async () => (await c.GetStatus({})).queues.reduce((n, q) => n + q.pending + q.in_progress, 0);
  let r = submit('--request-id', 'not sent', '--out', join(d.dir, 'no', 'folder'));
  assert.equal(r.code, 2);
  assert.match(r.answer.error, /no\/folder/);
  assert.equal(await queued(), 0);
  // the C1 says which sector it is: the same request as the first test's, which is made already
  const out = join(d.dir, 'shell.proof');
  r = submit('--out', out);
  assert.equal(r.code, 0, JSON.stringify(r.answer));
  assert.equal(r.answer.status, 'COMPLETED');
  assert.ok(verifies('porep-2k-v1_1-1', readFileSync(out), d.dir));
  assert.equal(submit().answer.job_id, r.answer.job_id);
  assert.equal(cuzk('await', r.answer.job_id).answer.proof, r.answer.proof);
  assert.equal(cuzk('cancel', r.answer.job_id).answer.was_running, false);
  assert.equal(cuzk('await', 'no-such').code, 2);
  r = cuzk('submit', 'porep', '--c1', c1, '--miner-id', '4711', '--wait');
  assert.deepEqual([r.code, r.answer.status], [1, 'FAILED']);
});

// A line of jobs that no machine finishes in the time of a few calls; the last of them is asked for.
test('a queue: counts jobs, waits with a limit, cancels', async () => {
  const jobs = [];
  for (let i = 0; i < 40; i++)
    jobs.push((await c.SubmitProof(request('porep-2k-v1_1-3', { request_id: `line-${i}` }))).job_id);
  const last = jobs.at(-1);
  const queued = (await c.GetStatus({})).queues.reduce((n, q) => n + q.pending + q.in_progress, 0);
  assert.ok(queued > 20 && queued <= 40, String(queued));
  assert.equal((await c.AwaitProof({ job_id: last, timeout_ms: 50 })).status, 'TIMEOUT');
  assert.equal((await c.CancelProof({ job_id: last })).was_running, false);
  assert.equal((await c.AwaitProof({ job_id: last })).status, 'CANCELLED');
  assert.equal(typeof (await c.CancelProof({ job_id: jobs[0] })).was_running, 'boolean');
  for (const job_id of jobs) await c.CancelProof({ job_id });
  await until(async () => (await c.GetStatus({})).queues.every((q) => q.pending + q.in_progress === 0), 'the queue is empty');
});

test('a full queue is RESOURCE_EXHAUSTED and says when to try again', async () => {
  const small = await startDaemon({ toml: { scheduler: { max_queued: 2 } } });
  assert.ok(small.port, small.log);
  const sc = connect(small.address);
  const taken = [];
  let refused;
  // two are taken at least; where the machine is quick one of them may be done when the third comes
  for (let i = 0; i < 100 && !refused; i++)
    await sc.SubmitProof(request('porep-2k-v1_1-3', { request_id: `full-${i}` })).then((r) => taken.push(r.job_id), (e) => { refused = e; });
  assert.ok(taken.length >= 2);
  assert.equal(refused?.code, grpc.status.RESOURCE_EXHAUSTED);
  assert.match(refused.details, /try again in \d+/);
  const again = await sc.SubmitProof(request('porep-2k-v1_1-3', { request_id: `full-${taken.length - 1}` }));
  assert.equal(again.job_id, taken.at(-1), 'one that is there may always join');
  for (const job_id of taken) await sc.CancelProof({ job_id });
  await sc.SubmitProof(request('winning-2k-1'));
  sc.close();
  assert.equal((await small.stop()).code, 0, small.log);
});

test('a client that goes away harms nobody', async () => {
  const figure = async (name) => {
    const { prometheus_text: text } = await c.GetMetrics({});
    return Number(new RegExp(`^${name}\\{kind="porep"\\} (\\d+)$`, 'm').exec(text)[1]);
  };
  // The deadline of Prove is the job's, and either clock may be the first to say so. On a slow machine the call may
  // never have arrived, on a fast one the proof may be there in time: then another time is given.
  for (let tries = 0, ms = 300, left = false; !left; tries++) {
    assert.ok(tries < 20, `no time between arrival and proof, last ${ms} ms`);
    const other = connect(d.address);
    const failed = await figure('cuzk_jobs_failed_total'), arrived = await figure('cuzk_jobs_submitted_total');
    const q = request('porep-2k-v1_1-3', { request_id: `left-alone-${tries}` });
    const e = await other.Prove({ submit: q }, { deadline: Date.now() + ms }).catch((e) => e);
    other.close();
    if (e.result?.status === 'COMPLETED') {
      ms /= 2;
    } else if ((await figure('cuzk_jobs_submitted_total')) === arrived) {
      ms *= 2;
    } else {
      assert.ok(e.code === grpc.status.DEADLINE_EXCEEDED || e.result?.status === 'TIMEOUT', JSON.stringify(e));
      await until(async () => (await figure('cuzk_jobs_failed_total')) === failed + 1, 'the job ends with its deadline');
      left = true;
    }
  }
  const after = (await c.Prove({ submit: request('window-2k-1sector', { request_id: 'after' }) })).result;
  assert.equal(after.status, 'COMPLETED');
});

test('preload and evict', async () => {
  await c.PreloadSRS({ circuit_id: 'window-2k' });
  const p = await c.PreloadSRS({ circuit_id: 'wpost-2k' });
  assert.equal(p.already_loaded, true);
  assert.ok((await c.GetStatus({})).loaded_srs.some((s) => s.circuit_id === 'wpost-2k'));
  const e = await c.EvictSRS({ circuit_id: 'wpost-2k' });
  assert.equal(e.was_loaded, true);
  assert.ok(e.freed_bytes > 0);
  assert.equal((await c.EvictSRS({ circuit_id: 'wpost-2k' })).was_loaded, false);
});

test('metrics', async () => {
  const { prometheus_text: text } = await c.GetMetrics({});
  assert.match(text, /cuzk_jobs_completed_total\{kind="porep"\} [1-9]/);
  assert.match(text, /# TYPE cuzk_jobs_pending gauge/);
});

test('unix socket, and a second instance is kept off', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'cuzk-sock-'));
  const listen = `unix://${dir}/cuzk.sock`;
  const u = await startDaemon({ listen });
  assert.equal(u.exited, null, u.log);
  const uc = connect(listen);
  const r = (await uc.Prove({ submit: request('window-2k-1sector') })).result;
  assert.equal(r.status, 'COMPLETED', r.error_message);
  const second = await startDaemon({ listen });
  assert.equal((await second.ended).code, 3);
  assert.match(second.log, /another instance listens/);
  assert.ok((await uc.GetStatus({})).total_proofs_completed >= 1, 'the first one still answers');
  const sameDoor = await startDaemon({ listen: d.address });
  assert.equal((await sameDoor.ended).code, 3);
  uc.close();
  assert.equal((await u.stop()).code, 0);
  rmSync(dir, { recursive: true, force: true });
});
