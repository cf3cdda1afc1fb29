import { describe, expect, test } from 'vitest';
import { employee, refusal, signal, write } from '../profile.ts';
import { startedSftpHris } from '../sftp-under-test.ts';

const at = startedSftpHris();

describe('the wire', () => {
  test('a host key that is not the pinned one is refused with both fingerprints, before any login', async () => {
    const pinned = 'SHA256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA';
    const hris = await at().open({ hostKey: pinned });
    const error = await refusal(hris.employees.create(employee('host'), 'wire:1', write));
    expect(error).toMatchObject({ code: 'HRIS_HOST_KEY', action: 'reauthorize' });
    expect(error.message).toContain(pinned);
    expect(error.message).toContain(at().server.hostKey);
    await hris.close();
    const both = await at().open({ hostKey: [pinned, at().server.hostKey] });
    expect(await both.probe(signal)).toEqual({ ok: true });
    await both.close();
  });

  test.each([
    ['a wrong passphrase', { passphrase: 'wrong' }],
    ['no passphrase', { passphrase: undefined }],
    ['another user', { user: 'nobody-here' }],
    ['a key that is none', { privateKey: 'none' }],
  ])('%s pauses the HR system, and shows no secret', async (_what, changes) => {
    const hris = await at().open(changes);
    const result = await hris.probe(signal);
    expect(result).toMatchObject({ ok: false, error: { code: 'HRIS_AUTH', action: 'reauthorize' } });
    expect(JSON.stringify(result)).not.toMatch(/wrong|OPENSSH/);
    await hris.close();
  });

  test('a folder that is missing is named', async () => {
    for (const name of ['requests', 'sent', 'results', 'rosters']) {
      const hris = await at().open({ folders: { [name]: 'elsewhere' } });
      const result = await hris.probe(signal);
      expect(result).toMatchObject({ ok: false, error: { code: 'HRIS_MISCONFIGURED' } });
      expect(JSON.stringify(result)).not.toMatch(/undefined/);
      await hris.close();
    }
  });

  test('a private address is not spoken to unless it is allowed', async () => {
    for (const host of ['127.0.0.1', 'localhost']) {
      const hris = await at().open({ host, allowPrivateAddress: false });
      expect(await hris.probe(signal)).toMatchObject({ ok: false, error: { code: 'HRIS_PRIVATE_ADDRESS' } });
      await hris.close();
    }
  });

  test('a folder that may only be read refuses before anything is handed over', async () => {
    const hris = await at().open({ folders: { requests: '/proc/self' } });
    const error = await refusal(hris.employees.create(employee('readonly'), 'wire:3', write));
    expect(error.action).not.toBe('unknown');
    expect(error.code).toMatch(/^HRIS_/);
    await hris.close();
  });
});
