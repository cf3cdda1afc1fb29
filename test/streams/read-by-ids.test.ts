import { expect, test } from 'vitest';
import type { ListEndpoint } from '../../src/partner/client/types.ts';
import { contract } from '../../src/partner/contract/index.ts';
import { readByIds } from '../../src/streams/read-page.ts';
import { pullStreams } from '../../src/streams/streams.ts';
import { type Script, scriptedPartner } from '../partner/client/scripted-partner.ts';

const stream = { ...pullStreams.candidates, fetch: contract.candidates.bulkFetch as ListEndpoint };
const ids = Array.from({ length: 20 }, (_, index) => String(index + 1));

async function readWith(script: Script) {
  const { partner, seen } = await scriptedPartner(script);
  const read = await readByIds(partner, stream, ids).catch((error: unknown) => error);
  return { read, calls: seen.length };
}

const asked = (body: unknown): number[] => (body as { candidateIds: (number | string)[] }).candidateIds.map(Number);

test('a record that the partner refuses is left out, and the others are read', async () => {
  for (const [status, code] of [
    [404, 'NOT_FOUND'],
    [403, 'PERMISSION_DENIED'],
    [400, 'INVALID_REQUEST'],
  ] as const) {
    const { read } = await readWith(({ body }) => {
      if (asked(body).includes(7)) return { status, json: { error: { code, message: 'no' } } };
      return { json: { status: 'success', data: asked(body).map((id) => ({ id, firstName: 'A' })) } };
    });
    expect(read).toMatchObject({ items: { length: 19 } });
  }
});

test('what a server in between answers is no answer about any record, and costs one call', async () => {
  const html = await readWith(() => ({ status: 404, text: '<html>not here</html>' }));
  expect(html).toMatchObject({ read: { code: 'UNEXPECTED_ANSWER' }, calls: 1 });
});

test('a call that the partner does not offer is no answer about any record', async () => {
  const gone = await readWith(() => ({ status: 405, json: { error: { code: 'NOT_ALLOWED', message: 'no' } } }));
  expect(gone).toMatchObject({ read: { code: 'NOT_ALLOWED' } });
});
