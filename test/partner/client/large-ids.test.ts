import { expect, test } from 'vitest';
import { readRawRecords } from '../../../src/partner/client/pages.ts';
import { contract } from '../../../src/partner/contract/index.ts';
import { readWebhookEnvelope } from '../../../src/partner/webhook.ts';
import { errorOf } from '../../http/servers.ts';
import { scriptedPartner } from './scripted-partner.ts';

const LARGEST = '9007199254740991';
/** A number would round the two to one. */
const LARGE = ['9007199254740992', '9007199254740993'];
const REASON =
  'id: is above 9007199254740991, and hirebridge keeps no larger number exactly: ' +
  'ask the hiring platform for smaller ids';

const jobs = (ids: string[]) =>
  `{"jobs": [${ids.map((id) => `{"id":${id},"title":"1234567890123456","status":"ACTIVE"}`).join(', ')}], ` +
  `"totalJobs": ${ids.length}}`;

test('records under ids that a number would round are each left out under their own id', async () => {
  const { partner } = await scriptedPartner(() => ({ text: jobs([...LARGE, LARGEST]) }));
  const { items, unreadable } = await partner.readAll(contract.jobs.list);
  expect(unreadable.map(({ id, reason }) => [id, reason])).toEqual(LARGE.map((id) => [id, REASON]));
  expect(items.map(({ id, title }) => [id, title])).toEqual([[LARGEST, '1234567890123456']]);
  const raw = await partner.rawPage(contract.jobs.list, {}, { page: 1, size: 100 });
  const read = raw && readRawRecords(contract.jobs.list, raw);
  expect(read?.unreadable.map(({ id }) => id)).toEqual(LARGE);
});

test('ids that the specification has as text may be of any length, written as a number too', async () => {
  const data = `[{"id": ${LARGE[1]}, "entityType": "candidate", "fieldLabel": "Desk", "fieldType": "text"}]`;
  const { partner } = await scriptedPartner(() => ({ text: `{"status": "success", "data": ${data}}` }));
  const { items } = await partner.readAll(contract.customFields.list);
  expect(items.map(({ id }) => id)).toEqual([LARGE[1]]);
});

test('such an id is not sent as a number, and the refusal says what to do', async () => {
  const { partner, seen } = await scriptedPartner(() => ({
    json: { status: 'success', data: [], pagination: { total: 0 } },
  }));
  const ask = (jobId: string) =>
    partner.readAll(contract.jobCandidates.listByStageType, { query: { stageType: 'HIRED', jobId } });
  await ask(LARGEST);
  expect(seen.map(({ query }) => query['jobId'])).toEqual([LARGEST]);
  expect(await errorOf(ask(String(LARGE[1])))).toMatchObject({
    code: 'ID_TOO_LARGE',
    action: 'reject',
    message:
      `jobCandidates.listByStageType was not sent, because query.jobId would be ${LARGE[1]}: hirebridge keeps no ` +
      'number above 9007199254740991 exactly, so that two ids could become one. Ask the hiring platform for ' +
      'smaller ids.',
  });
  expect(seen).toHaveLength(1);
});

test('an event names its record by the exact id', () => {
  const body = `{"event": "candidate.hired", "data": {"jobId": 1, "jobCandidateIds": [${LARGE.join(',')}]}}`;
  expect(readWebhookEnvelope(body)?.ids.jobCandidateId).toEqual(LARGE);
});
