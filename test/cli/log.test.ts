import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { Writable } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { ConnectorError } from '../../src/errors.ts';
import { createRootLogger, type Logger } from '../../src/log.ts';

/** What a logger wrote, as text and as the last line's fields. */
function capture(write: (log: Logger) => void) {
  let text = '';
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      text += String(chunk);
      done();
    },
  });
  write(createRootLogger(sink, 'trace'));
  return { text, fields: JSON.parse(text.trim().split('\n').at(-1) ?? '{}') as Record<string, unknown> };
}

const PERSONAL = ['ada@example.org', 'Ada', 'Lovelace', '+49170', 'sk_live_secret', '1815-12-10'];

test.each([
  ['at the top', { email: 'ada@example.org', apiKey: 'sk_live_secret' }],
  ['however deep', { a: { b: [{ c: { firstName: 'Ada', last_name: 'Lovelace' } }] } }],
  ['in any spelling', { 'X-Api-Key': 'sk_live_secret', personalEmail: 'ada@example.org', date_of_birth: '1815-12-10' }],
  [
    'in whole records',
    { candidate: { anything: 'Ada' }, body: '{"email":"ada@example.org"}', headers: { a: 'sk_live_secret' } },
  ],
  ['beside ids, which stay', { tenantId: 'acme', jobCandidateId: '600013', phone: '+49170' }],
])('personal and secret fields are masked %s', (_where, fields) => {
  const { text } = capture((log) => log.info(fields, 'message'));
  for (const value of PERSONAL) expect(text).not.toContain(value);
  expect(text).toContain('[redacted]');
});

test('ids stay readable', () => {
  const { fields } = capture((log) =>
    log.info({ tenantId: 'acme', jobCandidateId: '600013', requestId: 'r1' }, 'hire opened'),
  );
  expect(fields).toMatchObject({
    level: 'info',
    tenantId: 'acme',
    jobCandidateId: '600013',
    requestId: 'r1',
    msg: 'hire opened',
  });
});

test("a child logger's own fields are masked too", () => {
  const { text } = capture((log) => log.child({ name: 'Ada', tenantId: 'acme' }).info('message'));
  expect(text).not.toContain('Ada');
  expect(text).toContain('acme');
});

test('an error keeps code, action and message, and none of the properties a library hung on it', () => {
  const cause = Object.assign(new Error('duplicate key'), {
    detail: 'Key (email)=(ada@example.org) exists',
    code: '23505',
  });
  const error = new ConnectorError({
    code: 'HRIS_REFUSED',
    action: 'reject',
    message: 'refused',
    details: { email: 'bad' },
    cause,
  });
  const { text, fields } = capture((log) => log.error({ err: error }, 'failed'));
  expect(fields['err']).toMatchObject({
    code: 'HRIS_REFUSED',
    action: 'reject',
    message: 'refused',
    cause: { code: '23505', message: 'duplicate key' },
  });
  expect(text).not.toContain('ada@example.org');
});

test.skipIf(!existsSync('/dev/full'))('a disk that is full under the log ends no process', () => {
  const full = openSync('/dev/full', 'w');
  onTestFinished(() => closeSync(full));
  const log = new URL('../../src/log.ts', import.meta.url).href;
  const script = `
    const { log } = await import(${JSON.stringify(log)});
    for (let line = 0; line < 5_000; line += 1) log.info({ line }, 'x'.repeat(1_000));
    console.log(process.memoryUsage().rss < 400e6 ? 'goes on' : 'grows');`;
  const { status, stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    env: { ...process.env, LOG_FORMAT: 'json', LOG_LEVEL: 'info' },
    stdio: ['ignore', 'pipe', full],
    encoding: 'utf8',
  });
  expect({ status, stdout }).toEqual({ status: 0, stdout: 'goes on\n' });
});
