import { expect, test } from 'vitest';
import { fetchPeople } from '../../activities/exchange/read-sides.ts';
import type { FieldDefinition } from '../../src/store/fields.ts';
import type { LinkedPair } from '../../src/store/linked-pairs.ts';
import { type Script, scriptedPartner } from '../partner/client/scripted-partner.ts';

const PAIRS = ['1', '2', '3', '4', '5'].map((partnerId) => ({ partnerId }) as LinkedPair);
const FIELD = { entity: 'candidate', id: 'f', label: 'City' } as FieldDefinition;
const refuse = (status: number, code: string) => ({ status, json: { error: { code, message: 'no' } } });

async function peopleFrom(script: Script, defined: FieldDefinition[] = []) {
  const { partner, seen } = await scriptedPartner(script);
  const people = await fetchPeople({ partner }, PAIRS, defined).catch((error: unknown) => error);
  return { people, calls: seen.length };
}

const profiles = (body: unknown) => ({
  json: {
    status: 'success',
    data: (body as { candidateIds: (string | number)[] }).candidateIds.map((id) => ({
      id: Number(id),
      firstName: 'A',
    })),
  },
});
const asks = (body: unknown, id: number): boolean =>
  (body as { candidateIds: (string | number)[] }).candidateIds.map(Number).includes(id);
const shown = { sources: expect.anything() as unknown };

test.each([
  [404, 'NOT_FOUND'],
  [403, 'PERMISSION_DENIED'],
])('one person refused with %d %s is not shown, and the others are', async (status, code) => {
  const { people } = await peopleFrom(({ body }) => (asks(body, 3) ? refuse(status, code) : profiles(body)));
  expect(people).toEqual([shown, shown, {}, shown, shown]);
});

test('a broken record without an id is that of its person, who is there', async () => {
  const { people } = await peopleFrom(({ body }) => {
    const { json } = profiles(body);
    return { json: { ...json, data: json.data.map((one) => (one.id === 3 ? { firstName: 'A' } : one)) } };
  });
  expect(people).toEqual([shown, shown, { unreadable: expect.any(String) as string }, shown, shown]);
});

test('a refusal of one person’s custom fields makes that record unreadable, and no other', async () => {
  const { people } = await peopleFrom(
    ({ body, query }) => {
      if (body !== undefined) return profiles(body);
      return query['entityId'] === '3' ? refuse(404, 'NOT_FOUND') : { json: { status: 'success', data: [] } };
    },
    [FIELD],
  );
  expect(people).toEqual([shown, shown, { unreadable: expect.stringContaining('NOT_FOUND') as string }, shown, shown]);
});

test('a value that names the type of a parent is not the person’s own, even without the parent’s id', async () => {
  const of = { customFieldId: 'f', entityType: 'candidate', entityId: '1' };
  const values = [
    { id: '1', ...of, value: 'Oslo' },
    { id: '2', ...of, value: 'Bergen', parentEntityType: 'work_experience' },
  ];
  const { people } = await peopleFrom(
    ({ body }) => (body !== undefined ? profiles(body) : { json: { status: 'success', data: values } }),
    [FIELD],
  );
  const customFields = { f: { label: 'City', value: 'Oslo' } };
  expect(people).toMatchObject(PAIRS.map(() => ({ sources: { candidate: { customFields } } })));
});

test('what a server in between answers is about nobody, and costs one call', async () => {
  const { people, calls } = await peopleFrom(() => ({ status: 404, text: '<html></html>' }));
  expect(people).toMatchObject({ code: 'UNEXPECTED_ANSWER' });
  expect(calls).toBe(1);
});

test('an application that was moved to another candidate shows nothing of its employee’s person', async () => {
  const { partner } = await scriptedPartner(({ body }) => ({
    json: {
      status: 'success',
      data: (body as { jobCandidateIds: string[] }).jobCandidateIds.map((id) => ({
        id: Number(id),
        jobId: 1,
        candidateId: id === '12' ? 9 : Number(id) - 10,
        candidate_details: { id: 9, firstName: 'A' },
      })),
    },
  }));
  const pairs = ['1', '2'].map(
    (partnerId) =>
      ({
        partnerId,
        pairId: partnerId,
        hire: { tenantId: 'acme', jobCandidateId: `1${partnerId}`, period: 1 },
      }) as LinkedPair,
  );
  const people = await fetchPeople({ partner }, pairs, []);
  expect(people).toEqual([
    expect.objectContaining(shown),
    { unreadable: expect.stringMatching(/belongs to candidate 9 now, not to 2/) as string },
  ]);
});
