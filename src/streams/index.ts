/**
 * Every stream, one line each. Its name here is its name in tenant files, on the command line, in schedules and in the
 * store, and its default mappings are `mappings/<HRIS kind>/<name>.yaml`.
 */
export { amendments } from './amendments.ts';
export { applications } from './applications.ts';
export { candidates } from './candidates.ts';
export { documents } from './documents.ts';
export { employees } from './employees.ts';
export { employment } from './employment.ts';
export { flows } from './flows.ts';
export { jobs } from './jobs.ts';
export { onboarding } from './onboarding.ts';
export { pipelines } from './pipelines.ts';
export { positions } from './positions.ts';
export { requisitions } from './requisitions.ts';
export { stages } from './stages.ts';
export { teams } from './teams.ts';
export { users } from './users.ts';
