import { expect, test } from 'vitest';
import { type Api, openSandbox } from './open-sandbox.ts';

const DEFAULT = ['SOURCED', 'APPLIED', 'ASSESSMENT', 'SCREEN', 'SHORTLISTED', 'HIRED'];

async function pipelineOf(api: Api, id?: number) {
  const list = (await api('GET', '/pipelines')).body.data;
  return id === undefined ? list[0] : list.find((one: { id: number }) => one.id === id);
}

const types = (pipeline: { stages: { type: string }[] }) => pipeline.stages.map((stage) => stage.type);
const names = (pipeline: { stages: { name: string }[] }) => pipeline.stages.map((stage) => stage.name);

test('a company is born with one pipeline, and a new one holds the six default stages', async () => {
  await using sandbox = await openSandbox();
  expect((await sandbox.api('GET', '/pipelines')).body.data).toHaveLength(1);
  const created = await sandbox.api('POST', '/pipelines', { name: '  Fast track ' });
  expect([created.status, created.body.data.name]).toEqual([200, 'Fast track']);
  const read = await sandbox.api('GET', `/pipelines/${created.body.data.id}`);
  expect(types(read.body.data)).toEqual(DEFAULT);
  const renamed = await sandbox.api('PUT', `/pipelines/${created.body.data.id}`, { name: 'Slow track' });
  expect(renamed.body).toEqual({ status: 'success', data: { id: created.body.data.id, name: 'Slow track' } });
});

test('a stage without order is placed before HIRED, with order at its place, and others stay sequential', async () => {
  await using sandbox = await openSandbox();
  const { id } = await pipelineOf(sandbox.api);
  const offer = await sandbox.api('POST', '/pipelines/stages', { pipelineId: id, name: 'Offer', type: 'OFFER' });
  expect(offer.status).toBe(201);
  expect(types(await pipelineOf(sandbox.api))).toEqual([...DEFAULT.slice(0, 5), 'OFFER', 'HIRED']);
  await sandbox.api('POST', '/pipelines/stages', { pipelineId: id, name: 'Phone screen', type: 'SCREEN', order: 2 });
  expect(types(await pipelineOf(sandbox.api))).toEqual([
    'SOURCED',
    'SCREEN',
    'APPLIED',
    'ASSESSMENT',
    'SCREEN',
    'SHORTLISTED',
    'OFFER',
    'HIRED',
  ]);
  const moved = await sandbox.api('POST', '/pipelines/stages', {
    pipelineId: id,
    stageId: offer.body.data.id,
    order: 2,
    type: 'ONBOARDING',
  });
  expect([moved.status, moved.body.data.type]).toEqual([200, 'ONBOARDING']);
  expect(types(await pipelineOf(sandbox.api))).toEqual([
    'SOURCED',
    'ONBOARDING',
    'SCREEN',
    'APPLIED',
    'ASSESSMENT',
    'SCREEN',
    'SHORTLISTED',
    'HIRED',
  ]);
});

test('nothing stands after HIRED, and the first place is locked', async () => {
  await using sandbox = await openSandbox();
  const { id, stages } = await pipelineOf(sandbox.api);
  await sandbox.api('POST', '/pipelines/stages', { pipelineId: id, stageId: stages[2].id, order: 6 });
  expect(types(await pipelineOf(sandbox.api))).toEqual([
    'SOURCED',
    'APPLIED',
    'SCREEN',
    'SHORTLISTED',
    'ASSESSMENT',
    'HIRED',
  ]);
  for (const order of [0, 1, 7]) {
    const { status, body } = await sandbox.api('POST', '/pipelines/stages', {
      pipelineId: id,
      stageId: stages[2].id,
      order,
    });
    expect([order, status, body.error.code]).toEqual([order, 400, 'INVALID_REQUEST']);
  }
});

test('an update of a system stage changes only its name', async () => {
  await using sandbox = await openSandbox();
  const { id, stages } = await pipelineOf(sandbox.api);
  const { status } = await sandbox.api('POST', '/pipelines/stages', {
    pipelineId: id,
    stageId: stages[1].id,
    name: 'Incoming',
    type: 'SCREEN',
    order: 4,
  });
  expect(status).toBe(200);
  const after = await pipelineOf(sandbox.api);
  expect([types(after), names(after)[1]]).toEqual([DEFAULT, 'Incoming']);
});

test('a deleted stage hands its candidates over and tells of it', async () => {
  await using sandbox = await openSandbox({ jobs: 1, candidates: 40 });
  const { id, stages } = await pipelineOf(sandbox.api);
  const [, , assessment, screen] = stages;
  const inside = (await sandbox.api('GET', `/job-candidates/stage/${assessment.id}/candidates`)).body.pagination.total;
  const before = (await sandbox.api('GET', `/job-candidates/stage/${screen.id}/candidates`)).body.pagination.total;
  expect(inside).toBeGreaterThan(0);
  const deleted = await sandbox.api('DELETE', `/pipelines/stages/${assessment.id}`, {
    pipelineId: id,
    newStageId: screen.id,
  });
  expect([deleted.status, deleted.body.status, typeof deleted.body.message]).toEqual([200, 'success', 'string']);
  expect((await sandbox.api('GET', `/job-candidates/stage/${screen.id}/candidates`)).body.pagination.total).toBe(
    before + inside,
  );
  expect(types(await pipelineOf(sandbox.api))).toEqual(DEFAULT.filter((type) => type !== 'ASSESSMENT'));
  const [event] = await sandbox.control.ledger({ kind: 'event', name: 'candidate.stage_changed' });
  expect(event?.detail).toMatchObject({ currentStageId: assessment.id, nextStageId: screen.id });
});

test('what cannot be deleted or does not exist is refused and changes nothing', async () => {
  await using sandbox = await openSandbox();
  const { id, stages } = await pipelineOf(sandbox.api);
  const other = (await sandbox.api('POST', '/pipelines', { name: 'Other' })).body.data.id;
  const elsewhere = (await pipelineOf(sandbox.api, other)).stages[2].id;
  const screen = stages[3].id;
  const refused: [number, string, string, string, unknown?][] = [
    ...stages
      .filter((stage: { type: string }) => ['SOURCED', 'APPLIED', 'HIRED'].includes(stage.type))
      .map(
        (stage: { id: number }) =>
          [
            400,
            'INVALID_REQUEST',
            'DELETE',
            `/pipelines/stages/${stage.id}`,
            { pipelineId: id, newStageId: screen },
          ] as [number, string, string, string, unknown],
      ),
    [400, 'INVALID_REQUEST', 'DELETE', `/pipelines/stages/${screen}`, { pipelineId: id, newStageId: screen }],
    [400, 'INVALID_REQUEST', 'DELETE', `/pipelines/stages/${screen}`, { pipelineId: id }],
    [400, 'INVALID_REQUEST', 'DELETE', `/pipelines/stages/${screen}`, { pipelineId: id, newStageId: elsewhere }],
    [404, 'NOT_FOUND', 'DELETE', `/pipelines/stages/${screen}`, { pipelineId: id, newStageId: 999 }],
    [404, 'NOT_FOUND', 'DELETE', '/pipelines/stages/999', { pipelineId: id, newStageId: screen }],
    [404, 'PIPELINE_NOT_FOUND', 'DELETE', `/pipelines/stages/${screen}`, { pipelineId: 999, newStageId: screen }],
    [404, 'PIPELINE_NOT_FOUND', 'GET', '/pipelines/999'],
    [404, 'PIPELINE_NOT_FOUND', 'PUT', '/pipelines/999', { name: '' }],
    [400, 'INVALID_REQUEST', 'GET', '/pipelines/abc'],
    [400, 'INVALID_REQUEST', 'POST', '/pipelines', { name: '   ' }],
    [400, 'INVALID_REQUEST', 'POST', '/pipelines', {}],
    [400, 'INVALID_REQUEST', 'POST', '/pipelines/stages', { pipelineId: id, name: 'X', type: 'HIRED' }],
    [400, 'INVALID_REQUEST', 'POST', '/pipelines/stages', { pipelineId: id, name: 'X', type: 'NONSENSE' }],
    [400, 'INVALID_REQUEST', 'POST', '/pipelines/stages', { pipelineId: id, type: 'SCREEN' }],
    [400, 'INVALID_REQUEST', 'POST', '/pipelines/stages', { pipelineId: id, stageId: screen }],
    [400, 'INVALID_REQUEST', 'POST', '/pipelines/stages', { pipelineId: id, stageId: screen, type: 'HIRED' }],
  ];
  for (const [status, code, method, path, body] of refused) {
    const answered = await sandbox.api(method, path, body);
    expect([method, path, body, answered.status, answered.body.error.code]).toEqual([method, path, body, status, code]);
  }
  expect(types(await pipelineOf(sandbox.api))).toEqual(DEFAULT);
});
