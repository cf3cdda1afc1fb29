/** What is done to pipelines, in the sandbox and in the model. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { accepted, chosen, type Family, pick, refusedAs, type Step, step } from './model-run.ts';
import {
  begin,
  compare,
  idOf,
  isOutside,
  type Pipeline,
  type Pipelines,
  pipelineRefusal,
  SYSTEM,
  shown,
  stageRefusal,
  tellsMove,
  UNKNOWN,
} from './pipelines-model.ts';

/** Section 2.1: what a new pipeline contains. */
const NEW = ['SOURCED', 'APPLIED', 'ASSESSMENT', 'SCREEN', 'SHORTLISTED', 'HIRED'];

const EDITABLE = ['ASSESSMENT', 'SCREEN', 'SHORTLISTED', 'OFFER', 'ONBOARDING'];

const name = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('Sales', ' Engineers ', 'Ä') },
  fc.constantFrom('', '  '),
);

const type = fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...EDITABLE) }, fc.constantFrom('HIRED', 'screen', 'NO'));

const order = fc.integer({ min: 0, max: 10 });

const maybe = <T>(of: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(of, { nil: undefined });

const createPipeline = step('create pipeline', fc.record({ name }), (model: Pipelines, company, body) => {
  const answer = company.api('POST', '/pipelines', body);
  if (body.name.trim() === '') return refusedAs(answer, ['INVALID_REQUEST'], 'a pipeline without a name');
  const data = accepted(answer, 200, 'a pipeline is created');
  assert.equal(data.name, body.name.trim());
  const made = company.api('GET', `/pipelines/${data.id}`).body.data as Pipeline;
  assert.deepEqual(
    made.stages.map((stage) => stage.type),
    NEW,
  );
  model.pipelines.push({ id: data.id, name: data.name, stages: made.stages.map(shown) });
});

const renamePipeline = step(
  'rename pipeline',
  fc.record({ pipeline: pick, name }),
  (model: Pipelines, company, drawn) => {
    const pipeline = chosen(model.pipelines, drawn.pipeline);
    const answer = company.api('PUT', `/pipelines/${idOf(model, drawn.pipeline)}`, { name: drawn.name });
    const broken = [...pipelineRefusal(drawn.pipeline), ...(drawn.name.trim() === '' ? ['INVALID_REQUEST'] : [])];
    if (pipeline === undefined || broken.length > 0) return refusedAs(answer, broken, 'the rename');
    assert.deepEqual(accepted(answer, 200, 'a pipeline is renamed'), { id: pipeline.id, name: drawn.name.trim() });
    pipeline.name = drawn.name.trim();
  },
);

const createStage = step(
  'create stage',
  fc.record({ pipeline: pick, name: maybe(name), type: maybe(type), order: maybe(order) }),
  (model: Pipelines, company, { pipeline: which, ...fields }) => {
    const pipeline = chosen(model.pipelines, which);
    const answer = company.api('POST', '/pipelines/stages', { pipelineId: idOf(model, which), ...fields });
    const wrong =
      (fields.name ?? '').trim() === '' ||
      !EDITABLE.includes(fields.type ?? '') ||
      fields.order === 0 ||
      (pipeline !== undefined && isOutside(pipeline, fields.order));
    const broken = [...pipelineRefusal(which), ...(wrong ? ['INVALID_REQUEST'] : [])];
    if (pipeline === undefined || broken.length > 0) return refusedAs(answer, broken, 'the stage');
    const made = shown(accepted(answer, 201, 'a stage is created'));
    assert.deepEqual([made.name, made.type], [(fields.name ?? '').trim(), fields.type]);
    // Without order before HIRED (section 4.1).
    const place = fields.order === undefined ? pipeline.stages.length - 1 : fields.order - 1;
    pipeline.stages.splice(place, 0, made);
  },
);

const updateStage = step(
  'update stage',
  fc.record({ pipeline: pick, stage: fc.nat(20), of: pick, name: maybe(name), type: maybe(type), order: maybe(order) }),
  (model: Pipelines, company, { pipeline: which, stage: nth, of, ...fields }) => {
    const pipeline = chosen(model.pipelines, which);
    // Mostly a stage of the pipeline that is named; now and then of another, of nobody, or of another company.
    const owner = of.kind === 'known' && of.nth > 2 ? pipeline : chosen(model.pipelines, of);
    const stage = owner?.stages[nth % owner.stages.length];
    const stageId = stage?.id ?? (of.kind === 'foreign' ? model.foreign.stages[0]?.id : UNKNOWN);
    const answer = company.api('POST', '/pipelines/stages', { pipelineId: idOf(model, which), stageId, ...fields });
    const broken = [...pipelineRefusal(which), ...stageRefusal(stage, of)];
    if (owner !== pipeline && stage !== undefined) broken.push('INVALID_REQUEST');
    if (Object.values(fields).every((value) => value === undefined)) broken.push('INVALID_REQUEST');
    if (fields.name?.trim() === '' || fields.order === 0) broken.push('INVALID_REQUEST');
    const system = stage !== undefined && SYSTEM.has(stage.type);
    if (fields.type === 'screen' || fields.type === 'NO') broken.push('INVALID_REQUEST');
    // Of a system stage only the name is taken, the rest left out (P3).
    if (!system && fields.type === 'HIRED') broken.push('INVALID_REQUEST');
    if (!system && pipeline !== undefined && isOutside(pipeline, fields.order)) broken.push('INVALID_REQUEST');
    if (pipeline === undefined || stage === undefined || broken.length > 0)
      return refusedAs(answer, broken, 'the change of the stage');
    if (fields.name !== undefined) stage.name = fields.name.trim();
    if (!system && fields.type !== undefined) stage.type = fields.type;
    if (!system && fields.order !== undefined) {
      const others = pipeline.stages.filter((one) => one !== stage);
      // Nothing stands after HIRED (P2).
      others.splice(Math.min(fields.order, pipeline.stages.length - 1) - 1, 0, stage);
      pipeline.stages = others;
    }
    assert.deepEqual(shown(accepted(answer, 200, 'a stage is changed')), stage);
  },
);

const deleteStage = step(
  'delete stage',
  fc.record({ pipeline: pick, stage: fc.nat(20), target: pick, inOther: fc.boolean() }),
  (model: Pipelines, company, drawn) => {
    const pipeline = chosen(model.pipelines, drawn.pipeline);
    const stage = pipeline?.stages[drawn.stage % pipeline.stages.length];
    const where = drawn.inOther ? model.pipelines.at(-1) : pipeline;
    const target = where === undefined ? undefined : chosen(where.stages, drawn.target);
    const newStageId = target?.id ?? (drawn.target.kind === 'foreign' ? model.foreign.stages[0]?.id : UNKNOWN);
    const answer = company.api('DELETE', `/pipelines/stages/${stage?.id ?? UNKNOWN}`, {
      pipelineId: idOf(model, drawn.pipeline),
      newStageId,
    });
    const broken = pipelineRefusal(drawn.pipeline);
    if (stage === undefined) broken.push('NOT_FOUND');
    if (stage !== undefined && SYSTEM.has(stage.type)) broken.push('INVALID_REQUEST');
    broken.push(...stageRefusal(target, drawn.target));
    if (target !== undefined && (target === stage || where !== pipeline)) broken.push('INVALID_REQUEST');
    if (pipeline === undefined || stage === undefined || target === undefined || broken.length > 0)
      return refusedAs(answer, broken, 'the deletion of the stage');
    accepted(answer, 200, 'a stage is deleted');
    pipeline.stages = pipeline.stages.filter((one) => one !== stage);
    const moved = [...model.people].filter(([, at]) => at === stage.id).map(([id]) => id);
    for (const id of moved) model.people.set(id, target.id);
    tellsMove(company, model, moved, stage, target);
  },
);

const movePerson = step(
  'move person',
  fc.record({ person: fc.nat(5), pipeline: fc.nat(5), stage: pick }),
  (model: Pipelines, company, drawn) => {
    const [id, from] = [...model.people][drawn.person % model.people.size] ?? [0, 0];
    const stages = model.pipelines[drawn.pipeline % model.pipelines.length]?.stages ?? [];
    const target = chosen(stages, drawn.stage);
    const stageId = target?.id ?? (drawn.stage.kind === 'foreign' ? model.foreign.stages[0]?.id : UNKNOWN);
    const answer = company.api('PUT', `/job-candidates/${id}/stage`, { stageId });
    if (target === undefined) return refusedAs(answer, stageRefusal(undefined, drawn.stage), 'the move');
    assert.equal(accepted(answer, 200, 'a move').status, 'IN_PROGRESS');
    model.people.set(id, target.id);
    const before = model.pipelines.flatMap((one) => one.stages).find((one) => one.id === from);
    tellsMove(company, model, target.id === from ? [] : [id], before, target);
  },
);

export const pipelines: Family<Pipelines> = {
  name: 'pipelines',
  begin,
  steps: [
    createPipeline,
    renamePipeline,
    createStage,
    createStage,
    updateStage,
    updateStage,
    deleteStage,
    movePerson,
  ] as Array<fc.Arbitrary<Step<Pipelines>>>,
  compare,
};
