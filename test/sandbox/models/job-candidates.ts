/** What is done to job candidates, in the sandbox and in the model. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  begin,
  compare,
  enter,
  foreignOr,
  idOf,
  type JobCandidates,
  type Stage,
  stageOf,
  type Told,
  tells,
} from './job-candidates-model.ts';
import { accepted, chosen, type Family, pick, refusedAs, type Step, step } from './model-run.ts';

const email = fc.constantFrom(
  'ada@example.org',
  'Ada@Example.org',
  'bo@example.org',
  'cy@example.org',
  'CY@example.org',
);

const job = fc.oneof({ weight: 4, arbitrary: pick }, fc.constant(undefined));

const add = step('add candidate', fc.record({ email, job }), (model: JobCandidates, company, drawn) => {
  const target = drawn.job === undefined ? undefined : chosen(model.jobs, drawn.job);
  const jobId = drawn.job === undefined ? undefined : (target?.id ?? foreignOr(drawn.job, model.foreign.jobId));
  const answer = company.api('POST', '/candidates', { email: drawn.email, ...(jobId === undefined ? {} : { jobId }) });
  if (drawn.job !== undefined && (target === undefined || target.status === 'DELETED')) {
    refusedAs(answer, ['NOT_FOUND'], 'adding to a job that is not there');
    return;
  }
  const data = accepted(answer, 200, 'a candidate is added');
  const known = model.candidates.get(drawn.email.toLowerCase());
  const present = model.applications.find((one) => one.candidateId === known && one.jobId === target?.id);
  assert.deepEqual([data.isExisting, data.isAlreadyInJob], [known !== undefined, present !== undefined]);
  if (known !== undefined) assert.equal(data.id, known);
  model.candidates.set(drawn.email.toLowerCase(), data.id);
  if (target === undefined) return tells(company, []);
  if (present !== undefined) {
    assert.equal(data.jobCandidateId, present.id);
    return tells(company, []);
  }
  enter(model, { id: data.jobCandidateId, jobId: target.id, candidateId: data.id, stage: stageOf(model, 'SOURCED') });
  tells(company, [['candidate.added_to_job', [data.jobCandidateId]]]);
});

const apply = step(
  'apply on the hosted page',
  fc.record({ email, job: pick }),
  (model: JobCandidates, company, drawn) => {
    const target = chosen(model.jobs, drawn.job);
    const known = model.candidates.get(drawn.email.toLowerCase());
    // A second application to the same job is not described.
    if (model.applications.some((one) => one.candidateId === known && one.jobId === target?.id)) return;
    const jobId = target?.id ?? foreignOr(drawn.job, model.foreign.jobId);
    const done = company.act('apply', { jobId, candidate: { email: drawn.email, firstName: 'A', lastName: 'B' } });
    if (target?.status !== 'ACTIVE') {
      assert.ok(done.refused !== undefined, 'applications come only to an ACTIVE job');
      return;
    }
    if (known !== undefined) assert.equal(done.candidateId, known);
    model.candidates.set(drawn.email.toLowerCase(), done.candidateId);
    enter(model, {
      id: done.jobCandidateId,
      jobId: target.id,
      candidateId: done.candidateId,
      stage: stageOf(model, 'APPLIED'),
    });
    tells(company, [['candidate.applied', done.jobCandidateId]]);
  },
);

const setJobStatus = step(
  'set job status',
  fc.record({ job: fc.nat(5), status: fc.constantFrom('DRAFT', 'ACTIVE', 'INACTIVE', 'DELETED') }),
  (model: JobCandidates, company, drawn) => {
    const target = model.jobs[drawn.job % model.jobs.length];
    // What becomes of the people of a deleted job is not described: only an empty one is deleted, and stays so.
    if (target === undefined || target.status === 'DELETED') return;
    if (drawn.status === 'DELETED' && model.applications.some((one) => one.jobId === target.id)) return;
    company.act('setJobStatus', { jobId: target.id, status: drawn.status });
    target.status = drawn.status;
    company.events();
  },
);

const move = step('move', fc.record({ person: pick, stage: pick }), (model: JobCandidates, company, drawn) => {
  const person = chosen(model.applications, drawn.person);
  const stage = chosen(model.stages, drawn.stage);
  const stageId = stage?.id ?? foreignOr(drawn.stage, model.foreign.stageId);
  const answer = company.api('PUT', `/job-candidates/${idOf(model, drawn.person)}/stage`, { stageId });
  const broken = person === undefined ? ['NOT_FOUND'] : [];
  if (stage === undefined) broken.push(drawn.stage.kind === 'foreign' ? 'PERMISSION_DENIED' : 'NOT_FOUND');
  if (person === undefined || stage === undefined) return refusedAs(answer, broken, 'the move');
  const { id: jobCandidateId, jobId, candidateId } = person;
  assert.deepEqual(accepted(answer, 200, 'a move'), {
    jobCandidateId,
    jobId,
    candidateId,
    stageId: stage.id,
    stageName: stage.name,
    stageType: stage.type,
    status: 'IN_PROGRESS',
  });
  const events: Told[] = [['candidate.stage_changed', [person.id]]];
  if (stage.type === 'HIRED') events.push(['candidate.hired', [person.id]]);
  tells(company, person.stage === stage ? [] : events);
  person.stage = stage;
});

const evaluate = step(
  'evaluate',
  fc.record({ person: pick, evaluationStatus: fc.constantFrom('APPROVED', 'REJECTED', undefined) }),
  (model: JobCandidates, company, { person: which, ...body }) => {
    const person = chosen(model.applications, which);
    const answer = company.api('PATCH', `/job-candidates/${idOf(model, which)}`, body);
    const broken = person === undefined ? ['NOT_FOUND'] : [];
    if (body.evaluationStatus === undefined) broken.push('INVALID_REQUEST');
    if (person === undefined || broken.length > 0) return refusedAs(answer, broken, 'the evaluation');
    assert.equal(accepted(answer, 200, 'an evaluation').evaluationStatus, body.evaluationStatus);
    const rejectedNow = body.evaluationStatus === 'REJECTED';
    const events = company.events().map(([name]) => name);
    // An edited application may be told as candidate.updated besides (section 6); whether one set to what it was is, is
    // not said.
    const rejections = events.filter((name) => name !== 'candidate.updated');
    if (!rejectedNow) assert.deepEqual(rejections, []);
    else if (!person.rejected) assert.deepEqual(rejections, ['candidate.rejected']);
    person.rejected = rejectedNow;
  },
);

const remove = step('remove from job', fc.record({ person: pick }), (model: JobCandidates, company, drawn) => {
  const person = chosen(model.applications, drawn.person);
  const answer = company.api('DELETE', `/job-candidates/${idOf(model, drawn.person)}`);
  if (person === undefined) return refusedAs(answer, ['NOT_FOUND'], 'the removal');
  accepted(answer, 200, 'a removal');
  model.applications = model.applications.filter((one) => one !== person);
  tells(company, [['candidate.removed_from_job', [person.id]]]);
  assert.equal(company.api('GET', `/candidates/${person.candidateId}`).status, 200, 'the profile stays');
});

const deleteCandidate = step(
  'delete candidate',
  fc.record({ person: fc.nat(9) }),
  (model: JobCandidates, company, drawn) => {
    const [address, id] = [...model.candidates][drawn.person % Math.max(1, model.candidates.size)] ?? [];
    if (address === undefined) return;
    company.act('deleteCandidate', { candidateIds: [id] });
    const gone = model.applications.filter((one) => one.candidateId === id);
    model.applications = model.applications.filter((one) => one.candidateId !== id);
    model.candidates.delete(address);
    assert.equal(company.api('GET', `/candidates/${id}`).code, 'NOT_FOUND');
    // One event per job (section 6).
    const told = company.events().map(([name, data]) => [name, data.jobCandidateIds]);
    assert.deepEqual(told.toSorted(), gone.map((one) => ['candidate.removed_from_job', [one.id]]).toSorted());
  },
);

const bulkFetch = step(
  'bulk fetch',
  fc.array(fc.oneof(pick, fc.constant('abc')), { maxLength: 6 }),
  (model: JobCandidates, company, drawn) => {
    const ids = drawn.map((one, at) => {
      if (typeof one === 'string') return one;
      const id = idOf(model, one);
      return at % 2 === 0 ? id : String(id);
    });
    const answer = company.api('POST', '/job-candidates/bulk-fetch', { jobCandidateIds: ids });
    if (ids.length === 0) return refusedAs(answer, ['INVALID_REQUEST'], 'an empty fetch');
    const right = [...new Set(ids.map(String))].filter((id) => model.applications.some((one) => String(one.id) === id));
    const found = accepted(answer, 200, 'a fetch') as Array<{ id: number }>;
    assert.deepEqual(
      found.map(({ id }) => String(id)),
      right,
    );
  },
);

const listByType = step(
  'list by stage type',
  fc.record({ stage: fc.nat(9), job: pick, lower: fc.boolean() }),
  (model: JobCandidates, company, drawn) => {
    const { type } = model.stages[drawn.stage % model.stages.length] as Stage;
    const target = chosen(model.jobs, drawn.job);
    const filter = target === undefined ? '' : `&jobId=${target.id}`;
    if (target?.status === 'DELETED') return;
    const asked = drawn.lower ? type.toLowerCase() : type;
    const answer = company.api('GET', `/job-candidates/stage?stageType=${asked}&perPage=100${filter}`);
    const inside = model.applications.filter(
      (one) => one.stage.type === type && one.jobId === (target?.id ?? one.jobId),
    );
    const listed = accepted(answer, 200, 'a list by type') as Array<{ jobCandidateDetails: { id: number } }>;
    assert.deepEqual(listed.map((one) => one.jobCandidateDetails.id).toSorted(), inside.map(({ id }) => id).toSorted());
  },
);

const listOfJob = step(
  'list of a job',
  fc.record({ job: pick, excludeRejected: fc.boolean() }),
  (model: JobCandidates, company, drawn) => {
    const target = chosen(model.jobs, drawn.job);
    if (target?.status === 'DELETED') return;
    const id = target?.id ?? foreignOr(drawn.job, model.foreign.jobId);
    const query = `perPage=100&excludeRejected=${drawn.excludeRejected}`;
    const answer = company.api('GET', `/job-candidates/job/${id}/candidates?${query}`);
    if (target === undefined) return refusedAs(answer, ['NOT_FOUND'], 'the list of a job that is not there');
    const inside = model.applications.filter((one) => one.jobId === id && !(drawn.excludeRejected && one.rejected));
    const listed = accepted(answer, 200, 'a list of a job') as Array<{ id: number }>;
    assert.deepEqual(listed.map((one) => one.id).toSorted(), inside.map((one) => one.id).toSorted());
  },
);

export const jobCandidates: Family<JobCandidates> = {
  name: 'job candidates',
  begin,
  steps: [
    add,
    add,
    add,
    apply,
    setJobStatus,
    move,
    move,
    evaluate,
    remove,
    deleteCandidate,
    bulkFetch,
    listByType,
    listOfJob,
  ] as Array<fc.Arbitrary<Step<JobCandidates>>>,
  compare,
};
