// What the daemon's tests share: a daemon on a free port, a client of proving.proto, golden cases.
import { after } from 'node:test';
import { spawn, execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync, existsSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRequire } from 'node:module';

const require = createRequire(join(process.env.CUZK_NODE_MODULES, 'x.js'));
export const grpc = require('@grpc/grpc-js');
const loader = require('@grpc/proto-loader');

export const env = {
  daemon: process.env.CUZK_DAEMON,
  cuzk: process.env.CUZK,
  data: process.env.CUZK_TEST_DATA,
  srs: process.env.CUZK_TEST_SRS,
  cache: process.env.CUZK_TEST_CACHE,
  proto: process.env.CUZK_PROTO,
};

const definition = loader.loadSync(env.proto, { keepCase: true, longs: Number, enums: String, defaults: true });
export const proto = grpc.loadPackageDefinition(definition).cuzk.v1;

export const golden = (name, file) => {
  const plain = join(env.data, name, file);
  return existsSync(plain) ? readFileSync(plain)
    : execFileSync('xz', ['-dc', plain + '.xz'], { maxBuffer: 1 << 30 });
};
export const goldenJson = (name) => JSON.parse(golden(name, 'golden.json'));
export const hex = (s) => Buffer.from(s, 'hex');
export const sleep = (ms) => new Promise((r) => setTimeout(r, ms));

// Waits for a state, however slow the machine is: until condition() is true, or for two minutes.
export async function until(condition, what) {
  const end = Date.now() + 120000;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`not within two minutes: ${what}`);
    await sleep(10);
  }
}

// What a failed test left running would keep the runner waiting for ever. This hook comes before those of the test's own
// file, which stop their daemons in good order and look at how they end: only what is still there much later is killed.
const running = new Set();
after(() => { setTimeout(() => { for (const child of running) child.kill('SIGKILL'); }, 60000).unref(); });

// Starts a daemon; resolves when it listens or has ended. toml: more configuration; listen: default a free TCP port;
// program and variables: another daemon than the one that was built, more of an environment.
export async function startDaemon({ listen = '127.0.0.1:0', toml = {}, params = env.srs, args = [], program = env.daemon, variables = {} } = {}) {
  const dir = mkdtempSync(join(tmpdir(), 'cuzk-daemon-'));
  const tables = {
    daemon: { listen, ...toml.daemon },
    srs: { param_cache: params, circuit_cache: env.cache, allow_test: true, ...toml.srs },
    gpus: { backend: 'cpu', ...toml.gpus },
    ...Object.fromEntries(Object.entries(toml).filter(([k]) => !['daemon', 'srs', 'gpus'].includes(k))),
  };
  const text = Object.entries(tables)
    .map(([t, o]) => `[${t}]\n` + Object.entries(o).map(([k, v]) => `${k} = ${JSON.stringify(v)}\n`).join(''))
    .join('\n');
  const config = join(dir, 'cuzk.toml');
  writeFileSync(config, text);
  const child = spawn(program, ['--config', config, ...args], { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...variables } });
  running.add(child);
  const d = { child, dir, config, log: '', out: '', port: 0, exited: null };
  // close, not exit: its last words have been read as well
  d.ended = new Promise((r) => child.on('close', (code, signal) => { running.delete(child); d.exited = { code, signal }; r(d.exited); }));
  child.stdout.on('data', (b) => { d.out += b; });
  child.stderr.on('data', (b) => { d.log += b; });
  await until(() => /listens on/.test(d.log) || d.exited, 'the daemon listens or ends');
  const m = /listens on .*\(port (\d+)\)/.exec(d.log);
  d.port = m ? Number(m[1]) : 0;
  d.address = d.port ? `127.0.0.1:${d.port}` : listen;
  d.stop = async (signal = 'SIGTERM') => {
    if (!d.exited) child.kill(signal);
    const r = await d.ended;
    rmSync(dir, { recursive: true, force: true });
    return r;
  };
  return d;
}

const LIMIT = 256 << 20;
export function connect(address, credentials = grpc.credentials.createInsecure()) {
  const client = new proto.ProvingEngine(address, credentials, {
    'grpc.max_send_message_length': -1, 'grpc.max_receive_message_length': LIMIT,
    'grpc.use_local_subchannel_pool': 1,
  });
  const call = (method) => (request, options = {}) => new Promise((resolve, reject) => {
    client[method](request, options.metadata ?? new grpc.Metadata(), { deadline: options.deadline },
      (e, r) => (e ? reject(e) : resolve(r)));
  });
  const api = { raw: client, close: () => client.close() };
  for (const m of ['SubmitProof', 'AwaitProof', 'Prove', 'CancelProof', 'GetStatus', 'GetMetrics', 'PreloadSRS', 'EvictSRS', 'ClearQuarantine'])
    api[m] = call(m);
  return api;
}

// A submit message for a golden case.
const POREP_NUMBERS = { StackedDrg2KiBV1: 0, StackedDrg2KiBV1_1: 5, StackedDrg32GiBV1_1: 8 };
const POST_NUMBERS = { StackedDrgWinning2KiBV1: 0, StackedDrgWindow2KiBV1: 5, StackedDrgWindow2KiBV1_2: 10 };
export function request(name, extra = {}) {
  const g = goldenJson(name);
  const kind = name.split('-')[0];
  if (kind === 'porep')
    return { request_id: `porep-1000-${g.sector_id}`, proof_kind: 'POREP_SEAL_COMMIT', sector_size: g.sector_size, miner_id: 1000,
      sector_number: g.sector_id, registered_proof: POREP_NUMBERS[g.registered_proof], vanilla_proof: golden(name, 'c1.json'), ...extra };
  const vanilla = [];
  for (let i = 0; existsSync(join(env.data, name, `vanilla-${i}.bin.xz`)) || existsSync(join(env.data, name, `vanilla-${i}.bin`)); i++)
    vanilla.push(golden(name, `vanilla-${i}.bin`));
  const common = { miner_id: 1000, vanilla_proofs: vanilla };
  if (kind === 'update')
    return { request_id: 'snap-1000-1', proof_kind: 'SNAP_DEALS_UPDATE', registered_proof: 0, comm_r_old: hex(g.comm_r_old),
      comm_r_new: hex(g.comm_r_new), comm_d_new: hex(g.comm_d_new), ...common, ...extra };
  return { request_id: kind === 'winning' ? 'winpost-1000-5' : 'wdpost-1000-0-1',
    proof_kind: kind === 'winning' ? 'WINNING_POST' : 'WINDOW_POST_PARTITION', sector_size: g.sector_size,
    registered_proof: POST_NUMBERS[g.registered_proof], randomness: hex(g.randomness), ...common, ...extra };
}

// Verifies with the shell tool, from public data alone.
export function verifies(name, proof, dir) {
  const g = goldenJson(name);
  const kind = name.split('-')[0];
  const file = join(dir, 'proof-to-verify');
  writeFileSync(file, proof);
  const args = ['verify', kind, '--proof', file, '--params', env.srs, '--allow-test-srs', '--registered-proof', g.registered_proof];
  if (kind === 'porep')
    args.push('--miner-id', '1000', '--sector', String(g.sector_id), '--comm-r', g.comm_r, '--comm-d', g.comm_d, '--ticket', g.ticket,
      '--seed', g.seed);
  else if (kind === 'update')
    args.push('--comm-r-old', g.comm_r_old, '--comm-r-new', g.comm_r_new, '--comm-d-new', g.comm_d_new);
  else {
    const sectors = join(dir, 'sectors.json');
    writeFileSync(sectors, JSON.stringify(g.sectors));
    args.push('--randomness', g.randomness, '--sectors', sectors);
  }
  try {
    execFileSync(env.cuzk, args, { stdio: 'pipe' });
    return true;
  } catch (e) {
    return false;
  }
}
