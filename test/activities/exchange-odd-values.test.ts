import { describeOddValues } from './odd-values.ts';
import { postgresHr, sqliteHr } from './raw-hr.ts';

describeOddValues('SQLite', sqliteHr);
describeOddValues('PostgreSQL', postgresHr);
