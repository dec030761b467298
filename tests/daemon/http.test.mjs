// The HTTP side and the status page, the latter in a real browser where one is installed.
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import net from 'node:net';
import { join } from 'node:path';
import { connect, request, startDaemon } from './support.mjs';

let d, c, base, job;
before(async () => {
  d = await startDaemon({ toml: { daemon: { status_listen: '127.0.0.1:0' } } });
  assert.equal(d.exited, null, d.log);
  base = `http://127.0.0.1:${/status page on .*\(port (\d+)\)/.exec(d.log)[1]}`;
  c = connect(d.address);
  const r = (await c.Prove({ submit: request('window-2k-3sectors', { request_id: 'wdpost-1000-7' }) })).result;
  assert.equal(r.status, 'COMPLETED', r.error_message);
  job = r.job_id;
  await c.Prove({ submit: request('window-2k-1sector', { request_id: 'wdpost-1000-3-17-44-bad', randomness: Buffer.alloc(32, 3) }) });
});
after(async () => {
  c.close();
  assert.equal((await d.stop()).code, 0, d.log);
});

test('health, readiness, and what is not there', async () => {
  for (const [path, status] of [['/healthz', 200], ['/readyz', 200], ['/nothing', 404], ['/timeline/no-such', 404], ['/', 200]])
    assert.equal((await fetch(base + path)).status, status, path);
  assert.equal((await fetch(base + '/status', { method: 'POST', body: 'x' })).status, 405);
});

test('status and timeline', async () => {
  const s = await (await fetch(base + '/status')).json();
  assert.equal(s.completed, 1);
  assert.equal(s.failed, 1);
  assert.equal(s.jobs.length, 2);
  assert.ok(s.memory_budget_bytes > 0 && s.devices.length === 1);
  assert.deepEqual(s.srs.map((x) => x.circuit), ['wpost-2k']);
  assert.match(s.jobs.find((j) => j.state === 'failed').error, /sector/);
  const t = await (await fetch(`${base}/timeline/${job}`)).json();
  assert.equal(t.partitions, 2);
  for (const stage of ['queue', 'parse', 'check', 'witness', 'prove', 'finish'])
    assert.ok(t.stages.some((x) => x.stage === stage), stage);
  assert.ok(t.stages.every((x) => x.end_ms >= x.start_ms));
});

test('metrics are valid to Prometheus itself', async (ctx) => {
  const text = await (await fetch(base + '/metrics')).text();
  assert.match(text, /cuzk_jobs_completed_total\{kind="wdpost"\} 1/);
  if (spawnSync('promtool', ['--version']).error) return ctx.skip('promtool is not installed');
  execFileSync('promtool', ['check', 'metrics'], { input: text, stdio: ['pipe', 'pipe', 'pipe'] });
});

test('a body without end is cut off', async () => {
  const port = Number(new URL(base).port);
  const socket = net.connect(port, '127.0.0.1');
  socket.on('error', () => {});
  const closed = new Promise((r) => socket.on('close', r));
  socket.write('POST /status HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n');
  let sent = 0;
  const timer = setInterval(() => { sent += 65536; socket.write('10000\r\n' + 'a'.repeat(65536) + '\r\n'); }, 5);
  await Promise.race([closed, new Promise((r) => setTimeout(r, 120000).unref())]);
  clearInterval(timer);
  assert.ok(socket.destroyed || socket.closed, `still open after ${sent} bytes`);
  assert.equal((await fetch(base + '/healthz')).status, 200);
});

test('the page in Chromium: content, keyboard, dark and light', async (ctx) => {
  if (!existsSync('/usr/bin/chromium')) return ctx.skip('chromium is not installed');
  const require = createRequire(join(process.env.CUZK_NODE_MODULES, 'x.js'));
  const { chromium } = require('playwright-core');
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
      '--disable-component-update', '--disable-sync'] });
  try {
    for (const colorScheme of ['light', 'dark']) {
      const page = await browser.newPage({ colorScheme, viewport: { width: 1100, height: 900 } });
      const problems = [];
      page.on('pageerror', (e) => problems.push(String(e)));
      page.on('console', (m) => m.type() === 'error' && problems.push(m.text()));
      const asked = [];
      page.on('request', (r) => asked.push(new URL(r.url()).host));
      await page.goto(base + '/');
      await page.getByText('wdpost-1000-7').waitFor();
      assert.match(await page.locator('#summary').innerText(), /1 proved, 1 failed/);
      assert.match(await page.locator('#jobs').innerText(), /completed/);
      // by keyboard alone: to the skip link, to the jobs, to the first job, its timeline
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      for (let i = 0; i < 6 && await page.evaluate(() => document.activeElement.dataset.job) !== job; i++) await page.keyboard.press('Tab');
      assert.equal(await page.evaluate(() => document.activeElement.dataset.job), job);
      await page.keyboard.press('Enter');
      await page.locator('#timeline svg').waitFor();
      assert.match(await page.locator('#timeline svg').getAttribute('aria-label'), /witness 0 \d+ ms/);
      assert.match(await page.evaluate(() => document.activeElement.textContent), /Timeline of wdpost-1000-7/);
      assert.match(await page.locator('#jobs tr.message').innerText(), /the path is that of leaf/);
      // a narrow window: nothing beyond its edge, what matters in sight, letters of their size
      await page.setViewportSize({ width: 320, height: 900 });
      await page.waitForFunction(() => document.querySelector('#timeline svg').getBoundingClientRect().right <= innerWidth);
      assert.deepEqual(await page.evaluate(() => [...document.querySelectorAll('section, #jobs td:not(.seconds), #timeline svg')]
        .filter((e) => e.getBoundingClientRect().right > innerWidth - 8).map((e) => e.outerHTML.slice(0, 80))), []);
      assert.ok(await page.evaluate(() => [...document.querySelectorAll('button.job')]
        .every((e) => e.getBoundingClientRect().right <= e.parentNode.nextSibling.nextSibling.getBoundingClientRect().left)), 'no id over the state');
      assert.ok(await page.evaluate(() => [...document.querySelectorAll('#timeline text')].every((e) => e.getBoundingClientRect().height >= 10)));
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 320);
      await page.setViewportSize({ width: 1100, height: 900 });
      // what a screen reader is told does not change with the time
      const told = await page.locator('#heard').innerText(), up = await page.locator('#summary').innerText();
      await page.waitForFunction((was) => document.querySelector('#summary').innerText !== was, up);
      assert.match(told, /^1 proved, 1 failed$/);
      assert.equal(await page.locator('#heard').innerText(), told);
      assert.deepEqual(problems.filter((p) => !/favicon/.test(p) && !/404/.test(p)), []);
      assert.ok(asked.every((h) => h === new URL(base).host), 'nothing from elsewhere');
      if (process.env.CUZK_SCREENSHOTS) {
        mkdirSync(process.env.CUZK_SCREENSHOTS, { recursive: true });
        await page.screenshot({ path: join(process.env.CUZK_SCREENSHOTS, `status-${colorScheme}.png`) });
      }
      await page.close();
    }
  } finally {
    await browser.close();
  }
});
