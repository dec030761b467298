// Who may come in: plain, TLS, mutual TLS, token; health and reflection; what is refused, and with which words.
import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { connect, env, grpc, request, sleep, startDaemon, until } from './support.mjs';

const require = createRequire(join(process.env.CUZK_NODE_MODULES, 'x.js'));
const loader = require('@grpc/proto-loader');
const protobuf = require('protobufjs');
const PROTO = dirname(env.proto);
const load = (file) => grpc.loadPackageDefinition(loader.loadSync(join(PROTO, file), { keepCase: true, enums: String, defaults: true, oneofs: true })).grpc;

const TOKEN = 'a-token-that-is-long-enough-4711';
let dir;
const at = (name) => join(dir, name);
const read = (name) => readFileSync(at(name));
before(() => {
  dir = mkdtempSync(join(tmpdir(), 'cuzk-doors-'));
  const openssl = (...args) => execFileSync('openssl', args, { cwd: dir, stdio: 'pipe' });
  writeFileSync(at('ext'), 'subjectAltName=DNS:localhost,IP:127.0.0.1\n');
  for (const ca of ['ca', 'other'])
    openssl('req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', `${ca}.key`, '-out', `${ca}.pem`,
      '-days', '2', '-subj', `/CN=${ca}`);
  for (const [name, ca] of [['server', 'ca'], ['client', 'ca'], ['stranger', 'other']]) {
    openssl('req', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', `${name}.key`, '-out', `${name}.csr`,
      '-subj', `/CN=${name}`);
    openssl('x509', '-req', '-in', `${name}.csr`, '-CA', `${ca}.pem`, '-CAkey', `${ca}.key`, '-CAcreateserial', '-out', `${name}.pem`, '-days', '2',
      '-extfile', 'ext');
  }
  writeFileSync(at('token'), TOKEN + '\n');
  writeFileSync(at('short'), 'tooshort\n');
});
after(() => rmSync(dir, { recursive: true, force: true }));

const bearer = (token) => { const m = new grpc.Metadata(); m.set('authorization', `Bearer ${token}`); return m; };
const soon = () => Date.now() + 60000;
// GetStatus through the door: 'OK', or the name of the status that refuses it.
async function knock(address, credentials, metadata) {
  const c = connect(address, credentials);
  try {
    await c.GetStatus({}, { metadata, deadline: soon() });
    return 'OK';
  } catch (e) {
    return Object.keys(grpc.status).find((k) => grpc.status[k] === e.code);
  } finally {
    c.close();
  }
}
// Runs the shell tool's status command; returns its exit status and words.
function shell(address, ...args) {
  try {
    return { code: 0, text: execFileSync(env.cuzk, ['status', '--addr', address, ...args], { stdio: 'pipe', timeout: 120000 }).toString() };
  } catch (e) {
    return { code: e.status, text: String(e.stderr) };
  }
}

describe('plain and token', () => {
  let d;
  before(async () => { d = await startDaemon({ toml: { auth: { token_file: at('token') } } }); assert.ok(d.port, d.log); });
  after(async () => assert.equal((await d.stop()).code, 0, d.log));

  test('the token is asked for, compared whole, and read again on SIGHUP', async () => {
    const plain = grpc.credentials.createInsecure();
    assert.equal(await knock(d.address, plain), 'UNAUTHENTICATED');
    assert.equal(await knock(d.address, plain, bearer(TOKEN)), 'OK');
    for (const wrong of [TOKEN + 'x', TOKEN.slice(0, -1), TOKEN.slice(0, -1) + '2', '', TOKEN.toUpperCase()])
      assert.equal(await knock(d.address, plain, bearer(wrong)), 'UNAUTHENTICATED', wrong);
    const basic = new grpc.Metadata();
    basic.set('authorization', TOKEN);
    assert.equal(await knock(d.address, plain, basic), 'UNAUTHENTICATED');
    const next = 'another-token-of-sufficient-length';
    writeFileSync(at('token'), next);
    d.child.kill('SIGHUP');
    await until(() => /configuration read again/.test(d.log), 'the token is read again');
    assert.equal(await knock(d.address, plain, bearer(TOKEN)), 'UNAUTHENTICATED', 'the old one');
    assert.equal(await knock(d.address, plain, bearer(next)), 'OK');
    writeFileSync(at('token'), 'short');
    d.child.kill('SIGHUP');
    await until(() => /not taken over/.test(d.log), 'the short token is refused');
    assert.match(d.log, /not taken over: auth\.token_file.*at least 16/);
    assert.equal(await knock(d.address, plain, bearer(next)), 'OK', 'the last good one stays');
    writeFileSync(at('token'), TOKEN + '\n');
    d.child.kill('SIGHUP');
    await until(() => (d.log.match(/configuration read again/g) ?? []).length >= 2, 'the first token is read again');
  });

  test('the shell tool carries it', () => {
    assert.equal(shell(d.address, '--token-file', at('token')).code, 0);
    assert.match(shell(d.address).text, /Bearer TOKEN/);
  });

  test('health is open, reflection is not', async () => {
    const { health, reflection } = { ...load('grpc/health/v1/health.proto'), ...load('grpc/reflection/v1/reflection.proto') };
    const c = new health.v1.Health(d.address, grpc.credentials.createInsecure());
    const r = await new Promise((resolve, reject) => c.Check({ service: '' }, { deadline: soon() }, (e, v) => (e ? reject(e) : resolve(v))));
    assert.equal(r.status, 'SERVING');
    c.close();
    const s = new reflection.v1.ServerReflection(d.address, grpc.credentials.createInsecure());
    const stream = s.ServerReflectionInfo({ deadline: soon() });
    const e = await new Promise((resolve) => { stream.on('error', resolve); stream.on('data', () => resolve(null)); stream.write({ list_services: '' }); });
    assert.equal(e?.code, grpc.status.UNAUTHENTICATED);
    s.close();
  });
});

describe('TLS', () => {
  let d;
  before(async () => { d = await startDaemon({ toml: { tls: { cert: at('server.pem'), key: at('server.key') } } }); assert.ok(d.port, d.log); });
  after(async () => assert.equal((await d.stop()).code, 0, d.log));
  test('passes with the right CA only', async () => {
    assert.equal(await knock(d.address, grpc.credentials.createSsl(read('ca.pem'))), 'OK');
    assert.equal(await knock(d.address, grpc.credentials.createSsl(read('other.pem'))), 'UNAVAILABLE');
    assert.equal(await knock(d.address, grpc.credentials.createInsecure()), 'UNAVAILABLE');
    assert.equal(shell(d.address, '--tls-ca', at('ca.pem')).code, 0);
    assert.equal(shell(d.address, '--tls-ca', at('other.pem')).code, 3);
    assert.equal(shell(d.address).code, 3);
  });
});

describe('mutual TLS and token', () => {
  let d;
  before(async () => {
    d = await startDaemon({ toml: { tls: { cert: at('server.pem'), key: at('server.key'), client_ca: at('ca.pem') }, auth: { token_file: at('token') } } });
    assert.ok(d.port, d.log);
  });
  after(async () => assert.equal((await d.stop()).code, 0, d.log));
  test('asks for both', async () => {
    const mutual = (name) => grpc.credentials.createSsl(read('ca.pem'), read(`${name}.key`), read(`${name}.pem`));
    assert.equal(await knock(d.address, mutual('client'), bearer(TOKEN)), 'OK');
    assert.equal(await knock(d.address, mutual('client')), 'UNAUTHENTICATED');
    assert.equal(await knock(d.address, mutual('stranger'), bearer(TOKEN)), 'UNAVAILABLE', "another CA's certificate");
    assert.equal(await knock(d.address, grpc.credentials.createSsl(read('ca.pem')), bearer(TOKEN)), 'UNAVAILABLE', 'no certificate');
    const files = ['--tls-ca', at('ca.pem'), '--tls-cert', at('client.pem'), '--tls-key', at('client.key')];
    assert.equal(shell(d.address, ...files, '--token-file', at('token')).code, 0);
    assert.equal(shell(d.address, ...files).code, 2);
  });
});

test('what cannot be used is a sentence and exit status 2', async () => {
  writeFileSync(at('garbage.pem'), '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n');
  writeFileSync(at('page.pem'), '<html>not found</html>\n');
  const server = { cert: at('server.pem'), key: at('server.key') };
  const cases = [
    [{ tls: { ...server, cert: at('page.pem') } }, /tls\.cert: .*page\.pem holds no PEM block/],
    [{ tls: { ...server, cert: at('garbage.pem') } }, /tls\.cert, tls\.key and tls\.client_ca cannot be used/],
    [{ tls: { ...server, key: at('client.key') } }, /belongs to another certificate/],
    [{ tls: { ...server, key: at('server.pem') } }, /tls\.key: .*PRIVATE KEY/],
    [{ tls: { ...server, key: at('nowhere.key') } }, /tls\.key: .*nowhere\.key/],
    [{ tls: { ...server, client_ca: at('page.pem') } }, /tls\.client_ca: .*page\.pem/],
    [{ tls: { cert: at('server.pem') } }, /tls\.cert and tls\.key go together/],
    [{ tls: { client_ca: at('ca.pem') } }, /tls\.client_ca needs tls\.cert/],
    [{ auth: { token_file: at('short') } }, /auth\.token_file: .*at least 16 characters/],
    [{ auth: { token_file: at('nowhere') } }, /auth\.token_file: .*nowhere/],
  ];
  for (const [toml, words] of cases) {
    const d = await startDaemon({ toml });
    assert.match(d.log, words);
    assert.equal((await d.stop()).code, 2, d.log);
  }
});

test('a public listener without TLS or token is warned of', async () => {
  const tls = { cert: at('server.pem'), key: at('server.key') }, auth = { token_file: at('token') };
  const cases = [['0.0.0.0:0', {}, /takes jobs from any machine, without encryption or token/], ['0.0.0.0:0', { auth }, /learns the token/],
    ['0.0.0.0:0', { tls }, /encrypts but takes jobs from any machine/], ['0.0.0.0:0', { tls, auth }, null],
    ['0.0.0.0:0', { tls: { ...tls, client_ca: at('ca.pem') } }, null], ['127.0.0.1:0', {}, null], [`unix://${at('s')}`, {}, null]];
  for (const [listen, toml, words] of cases) {
    const d = await startDaemon({ listen, toml });
    assert.equal(d.exited, null, d.log);
    const warnings = d.log.split('\n').filter((l) => /warn.*rpc/i.test(l)).join('\n');
    if (words) assert.match(warnings, words);
    else assert.equal(warnings, '', `${listen} ${JSON.stringify(toml)}`);
    assert.equal((await d.stop()).code, 0);
  }
});

describe('health and reflection', () => {
  let d, c;
  before(async () => {
    d = await startDaemon();
    assert.ok(d.port, d.log);
    c = new (load('grpc/health/v1/health.proto').health.v1.Health)(d.address, grpc.credentials.createInsecure());
  });
  after(() => c.close());
  const check = (service) => new Promise((resolve, reject) => c.Check({ service }, { deadline: soon() }, (e, v) => (e ? reject(e) : resolve(v.status))));

  test('check', async () => {
    assert.equal(await check(''), 'SERVING');
    assert.equal(await check('cuzk.v1.ProvingEngine'), 'SERVING');
    await assert.rejects(check('another'), { code: grpc.status.NOT_FOUND });
  });

  // One stream of requests and answers, in order.
  async function ask(version, ...requests) {
    const s = new (load(`grpc/reflection/${version}/reflection.proto`).reflection[version].ServerReflection)(d.address, grpc.credentials.createInsecure());
    const stream = s.ServerReflectionInfo({ deadline: soon() });
    const answers = [];
    const end = new Promise((resolve, reject) => { stream.on('data', (a) => answers.push(a)); stream.on('end', resolve); stream.on('error', reject); });
    for (const q of requests) stream.write(q);
    stream.end();
    await end;
    s.close();
    assert.equal(answers.length, requests.length);
    return answers;
  }

  test('reflection describes every service, in both versions', async () => {
    const services = ['cuzk.v1.ProvingEngine', 'grpc.health.v1.Health', 'grpc.reflection.v1.ServerReflection', 'grpc.reflection.v1alpha.ServerReflection'];
    for (const version of ['v1', 'v1alpha']) {
      const [list, byService, byMethod, byField, byValue, byFile, none, noFile, numbers, extension, nothing] = await ask(version, { host: 'h', list_services: '*' },
        ...services.slice(0, 1).map((s) => ({ file_containing_symbol: s })), { file_containing_symbol: 'cuzk.v1.ProvingEngine.Prove' },
        { file_containing_symbol: 'cuzk.v1.AwaitProofResponse.Status' }, { file_containing_symbol: 'grpc.health.v1.HealthCheckResponse.status' },
        { file_by_filename: 'grpc/health/v1/health.proto' }, { file_containing_symbol: 'cuzk.v1.ProvingEngine.Pro' }, { file_by_filename: 'x.proto' },
        { all_extension_numbers_of_type: 'cuzk.v1.GPUStatus' }, { file_containing_extension: { containing_type: 'cuzk.v1.GPUStatus', extension_number: 5 } }, {});
      assert.deepEqual(list.list_services_response.service.map((s) => s.name).sort(), services);
      assert.equal(list.valid_host, 'h');
      assert.equal(list.original_request.list_services, '*');
      const proving = byService.file_descriptor_response.file_descriptor_proto[0];
      assert.deepEqual(byMethod.file_descriptor_response.file_descriptor_proto[0], proving);
      assert.deepEqual(byField.file_descriptor_response.file_descriptor_proto[0], proving);
      assert.deepEqual(byValue.file_descriptor_response.file_descriptor_proto, byFile.file_descriptor_response.file_descriptor_proto);
      for (const a of [none, noFile, extension]) assert.equal(a.error_response?.error_code, grpc.status.NOT_FOUND);
      assert.equal(nothing.error_response.error_code, grpc.status.INVALID_ARGUMENT);
      assert.equal(numbers.all_extension_numbers_response.base_type_name, 'cuzk.v1.GPUStatus');
      // A client that knows nothing but the answer calls GetStatus with it.
      require('protobufjs/ext/descriptor');
      const root = protobuf.Root.fromDescriptor({ file: [protobuf.descriptor.FileDescriptorProto.decode(proving)] });
      const Response = root.lookupType('cuzk.v1.GetStatusResponse');
      const raw = new grpc.Client(d.address, grpc.credentials.createInsecure());
      const bytes = await new Promise((resolve, reject) => raw.makeUnaryRequest('/cuzk.v1.ProvingEngine/GetStatus', (x) => x, (x) => x, Buffer.alloc(0),
        (e, r) => (e ? reject(e) : resolve(r))));
      raw.close();
      assert.equal(Response.decode(bytes).gpus.length, 1);
    }
  });

  test('a stream that the client leaves, or never uses, harms nobody', async () => {
    const s = new (load('grpc/reflection/v1/reflection.proto').reflection.v1.ServerReflection)(d.address, grpc.credentials.createInsecure());
    for (let i = 0; i < 20; i++) {
      const stream = s.ServerReflectionInfo();
      stream.on('error', () => {});
      if (i % 2) stream.write({ list_services: '' });
      await sleep(5);
      stream.cancel();
      const w = c.Watch({ service: '' });
      w.on('error', () => {});
      await sleep(5);
      w.cancel();
    }
    const idle = s.ServerReflectionInfo();
    const ended = new Promise((resolve) => { idle.on('end', () => resolve(0)); idle.on('error', (e) => resolve(e.code)); idle.on('data', () => {}); });
    idle.end();
    await ended;
    s.close();
    assert.equal(await check(''), 'SERVING');
  });

  test('watch tells at once, then of the end', async () => {
    const seen = [], unknown = [];
    const w = c.Watch({ service: 'cuzk.v1.ProvingEngine' });
    w.on('data', (m) => seen.push(m.status));
    const ended = new Promise((resolve) => { w.on('error', resolve); w.on('end', () => resolve(null)); });
    const u = c.Watch({ service: 'another' });
    u.on('data', (m) => unknown.push(m.status));
    u.on('error', () => {});
    await until(() => seen.length && unknown.length, 'the watchers are told');
    assert.deepEqual(seen, ['SERVING']);
    assert.deepEqual(unknown, ['SERVICE_UNKNOWN']);
    const start = Date.now();
    assert.equal((await d.stop()).code, 0, d.log);
    assert.ok(Date.now() - start < 30000, 'watchers do not hold the daemon up'); // daemon.drain is 60 s
    assert.equal((await ended)?.code, grpc.status.UNAVAILABLE);
    assert.ok(seen.every((s, i) => s === (i ? 'NOT_SERVING' : 'SERVING')), seen.join());
  });
});

// Returns false where the job ended before everything was looked at: then it is to be tried again.
async function watchTheEnd() {
  const d = await startDaemon({ toml: { daemon: { status_listen: '127.0.0.1:0' } } });
  assert.ok(d.port, d.log);
  const h = new (load('grpc/health/v1/health.proto').health.v1.Health)(d.address, grpc.credentials.createInsecure());
  const c = connect(d.address);
  const ready = `http://127.0.0.1:${/status page on .*\(port (\d+)\)/.exec(d.log)[1]}/readyz`;
  const seen = [];
  const w = h.Watch({ service: '' });
  w.on('data', (m) => seen.push(m.status));
  w.on('error', () => {});
  await until(() => seen.length, 'the watcher is told');
  const { job_id } = await c.SubmitProof(request('porep-2k-v1_1-1'));
  let ended = false;
  const result = c.AwaitProof({ job_id }).finally(() => { ended = true; });
  await until(async () => ended || (await c.GetStatus({})).gpus[0].current_job_id, 'the job is proved');
  const before = ended ? null : (await fetch(ready)).status;
  d.child.kill('SIGTERM');
  await until(() => ended || seen.includes('NOT_SERVING'), 'the watcher is told of the end');
  const looked = Promise.allSettled([fetch(ready), c.SubmitProof(request('winning-2k-1'))]);
  const [page, refused] = ended ? [] : await looked;
  const inTime = !ended;
  assert.equal((await result).status, 'COMPLETED', 'the job that ran is finished');
  if (inTime) {
    assert.equal(before, 200);
    assert.deepEqual(seen, ['SERVING', 'NOT_SERVING']);
    assert.equal(page.value?.status, 503);
    assert.equal(refused.reason?.code, grpc.status.RESOURCE_EXHAUSTED);
  }
  c.close();
  h.close();
  assert.equal((await d.ended).code, 0, d.log); // a second signal would end it at once
  await d.stop();
  return inTime;
}

test('while a job is finished at the end, watchers and readiness say that no more are taken', async () => {
  for (let tries = 0; !(await watchTheEnd()); tries++) assert.ok(tries < 10, 'the job was faster ten times');
});

// systemd's side of sd_notify: a datagram socket. node has none for unix, so a small Python process listens.
test('the service manager hears of readiness, life, reload and the end', async () => {
  const path = at('notify');
  const ear = spawn('python3', ['-u', '-c', `import socket
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(${JSON.stringify(path)})
print("bound")
while True: print(s.recv(4096).decode().replace("\\n", " "))`], { stdio: ['ignore', 'pipe', 'inherit'] });
  let heard = '';
  ear.stdout.on('data', (b) => { heard += b; });
  await until(() => /bound/.test(heard), 'the listener is there');
  const was = { ...process.env };
  Object.assign(process.env, { NOTIFY_SOCKET: path, WATCHDOG_USEC: '600000' });
  const d = await startDaemon();
  process.env = was;
  try {
    await until(() => (heard.match(/WATCHDOG=1/g) ?? []).length >= 3, 'three signs of life');
    d.child.kill('SIGHUP');
    await until(() => /RELOADING=1 MONOTONIC_USEC=\d+\nREADY=1/.test(heard), 'the reload');
    assert.match(heard, /READY=1\n[^]*RELOADING=1 MONOTONIC_USEC=\d+\nREADY=1\n/);
    assert.equal((await d.stop()).code, 0);
    await until(() => /STOPPING=1/.test(heard), 'the end');
    assert.match(heard, /STOPPING=1/);
  } finally {
    ear.kill();
  }
});
