import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'look answered by an earlier read',
  patches: [
    {
      file: 'activities/presence/fetch-job-candidates.ts',
      find: '  return (look) =>\n    new Promise(',
      replace: '  const ask = (look: Look): Promise<Answer> =>\n    new Promise(',
    },
    {
      file: 'activities/presence/fetch-job-candidates.ts',
      find: '      void readOn(key, waiting);\n    });\n',
      replace: `      void readOn(key, waiting);
    });
  const running = new Map<string, Promise<Answer>>();
  return (look) => {
    const name = JSON.stringify(look);
    const joined = running.get(name) ?? ask(look);
    running.set(name, joined);
    void joined.finally(() => running.delete(name)).catch(() => undefined);
    return joined;
  };
`,
    },
  ],
  caughtBy: tests(
    /a look asked while a read is under way is answered by the next one/,
    'test/activities/presence/share-reads.test.ts',
  ),
};
