import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'who goes on with an erasure leaves the rows of an enrolment, and looks for none',
  patches: [
    {
      file: 'activities/erase/carry-out.ts',
      find: '  await assertNotHeld(store, subject);\n  // If the person',
      replace: "  if (row.found !== '{}') subject.enrolments = [];\n  // If the person",
    },
  ],
  caughtBy: tests(/are left of whoever was erased/, 'test/person/erase-killed.test.ts'),
};
