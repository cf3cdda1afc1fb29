import { expect, test } from 'vitest';
import { defaultOverrides } from '../../src/partner/contract/assumptions.ts';
import { withConsents } from '../../src/streams/consents.ts';
import { type Script, scriptedPartner } from '../partner/client/scripted-partner.ts';
import { freshStore } from '../store/stores.ts';

async function consentsFrom(script: Script) {
  const [{ partner }, { store }] = await Promise.all([scriptedPartner(script), freshStore('sqlite')]);
  const applications = ['1', '2'].map((id) => ({ id, jobId: '7', candidateId: id }));
  return withConsents(store, { partner, overrides: defaultOverrides, tenant: { tenant: 'acme' } }, applications);
}

const refuse = (code: string) => ({ status: 403, json: { error: { code, message: 'no' } } });
const given = { json: { status: 'success', data: { jobCandidateId: 2, document: { name: 'Privacy' } } } };

test('what a server in between answers is about no consent', async () => {
  const read = consentsFrom(() => ({ status: 404, text: '<html>not here</html>' }));
  await expect(read).rejects.toMatchObject({ code: 'UNEXPECTED_ANSWER' });
});

test('a consent that may not be read is told, and the other is read; if none may, that is about the key', async () => {
  const one = await consentsFrom(({ path }) => (path.includes('/1/') ? refuse('PERMISSION_DENIED') : given));
  expect(one).toMatchObject({ items: [{ id: '2', state: 'given' }], refused: [{ id: '1' }] });
  const none = consentsFrom(() => refuse('PERMISSION_DENIED'));
  await expect(none).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
});
