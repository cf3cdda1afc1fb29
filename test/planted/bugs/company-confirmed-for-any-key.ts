import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'company confirmed for every key',
  patches: [
    {
      file: 'src/store/jobs.ts',
      find: "own.where('tenants.company_confirmed_key', '!=', keyFingerprint).execute()",
      replace: "own.where('tenants.company_confirmed_key', 'is', null).execute()",
    },
  ],
  caughtBy: tests(
    /FAIL .*is known by the jobs seen since a person last confirmed it/,
    'test/store/company-jobs.test.ts',
  ),
};
