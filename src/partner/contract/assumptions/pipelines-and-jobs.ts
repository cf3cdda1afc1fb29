/** Choices for sections 2.1, 2.2: pipelines and jobs. */
import type { Assumption } from './assumption.ts';

export const pipelinesAndJobs = {
  P1: { section: '2.1', choice: 'order 1 for another stage than SOURCED is refused: 400 INVALID_REQUEST.' },
  P2: {
    section: '2.1',
    choice:
      'APPLIED and HIRED are never moved, though others may be placed before them; nothing stands after HIRED: ' +
      'order = count for another stage is placed before HIRED.',
  },
  P3: { section: '4.1', choice: 'type and order are left out of an update of a system stage, answered 200.' },
  P4: { section: '7', choice: 'order on create may be 1 to the stage count before the insert.' },
  P5: {
    section: '7',
    choice: "A well-formed unknown stage id is 404 NOT_FOUND; another company's is 403 PERMISSION_DENIED.",
  },
  P6: {
    section: '4.1',
    choice: 'newStageId equal to the deleted stage or of another pipeline is 400; unknown is 404.',
  },
  P7: {
    section: '4.1',
    choice: 'A stage of another pipeline than pipelineId is 400 INVALID_REQUEST (stage id invalid).',
  },
  P8: { section: '2.1', choice: 'The order of the stages array is the order of the pipeline.' },
  P9: { section: '4.1', choice: 'Several stages of one type are allowed and their number is not bounded.' },
  P10: { section: '4.1', choice: 'Pipeline and stage names need not be unique and have no maximum.' },
  P11: {
    section: '4.1',
    choice: 'Changing a type to itself is allowed; an update with neither name, type nor order is 400.',
  },
  P12: { section: '3', choice: "A stage's type may change while candidates are in it." },
  P13: { section: '4.1', choice: 'Every company is born with one pipeline, its oldest is the default.' },
  J1: { section: '2.2', choice: "A new job takes the company's oldest pipeline; with none, one is made." },
  J2: { section: '4.2', choice: 'jobTitle, city, state, country: substring, any case; the others exact.' },
  J3: { section: '4.2', choice: 'Jobs are listed newest first.' },
  J4: { section: '4.2', choice: 'DELETED jobs are not listed; status=DELETED is INVALID_STATUS.' },
  J5: { section: '2.2', choice: 'createdAt of a job is epoch milliseconds; the client also reads seconds.' },
  J6: { section: '2.2', choice: 'Salary fields not set are null; totalJobs counts the matching jobs.' },
  J7: { section: '2.2', choice: 'salaryCurrency is any code of three capital letters.' },
  J8: { section: '2.2', choice: 'city and country must not be empty.' },
  J9: { section: '2.2', choice: 'teamId malformed is 400; well-formed and unknown is 404 NOT_FOUND.' },
  J10: {
    section: '4.2',
    choice: 'careerLevel matches no job made through the API; publishType of a new job is EXTERNAL.',
  },
  J11: { section: '2.2', choice: 'screeningQuestion may be an empty array; null is invalid; extra keys are ignored.' },
  J12: {
    section: '2.2',
    choice:
      'customFields on create and update is { id: value }; an unknown id is 404 CUSTOM_FIELD_NOT_FOUND, another ' +
      "company's 403 PERMISSION_DENIED.",
  },
  J13: { section: '2.2', choice: 'customFields show the stored form of a value.' },
  J14: {
    section: '2.2',
    choice: 'runningRevenue is a number, 0 for new jobs; rejectedCandidateCount counts evaluationStatus REJECTED.',
  },
  J15: { section: '2.2', choice: 'A description left out is generated at once.' },
  J16: { section: '6', choice: 'POST /jobs does not emit job.created: that event is of the dashboard.' },
} as const satisfies Record<string, Assumption>;
