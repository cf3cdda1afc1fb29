import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'a database elsewhere is spoken to in clear',
  patches: [
    {
      file: 'src/sql/open-database.ts',
      find: '  if (isThisMachine(host) || decided || byEnvironment) return;',
      replace: "  if (isThisMachine(host) || decided || byEnvironment || host !== '') return;",
    },
  ],
  caughtBy: tests(/FAIL .*is another machine/, 'test/sql/database-without-tls.test.ts'),
};
