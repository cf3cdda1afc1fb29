import pg from 'pg';
import { asAdmin } from '../../src/counterparts/start-postgres.ts';
import type { Powers } from '../../src/hris-kit/hris-under-test.ts';

/** The table as a customer has it whose own job numbers new rows. */
export async function leaveNumbersToJob(url: string): Promise<void> {
  const column = 'alter column employee_number';
  await asAdmin(url, `alter table employees ${column} drop default, ${column} drop not null, add column refused text`);
}

export function jobOf(url: string): Powers['job'] {
  return {
    finish: async (ticket) => void (await runJob(url, `and id = ${Number(ticket)}`)),
    refuse: (ticket) =>
      asAdmin(url, `update employees set refused = 'no such cost centre' where id = ${Number(ticket)}`),
  };
}

/** The customer's job: takes up rows nobody else has taken up, one at a time, and numbers them. */
export async function runJob(url: string, only = ''): Promise<string[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const numbers: string[] = [];
  try {
    for (;;) {
      const { rows } = await client.query<{ number: string }>(`with next as (
          select id from employees where employee_number is null and refused is null ${only}
          order by id limit 1 for update skip locked)
        update employees set employee_number = lpad(nextval('employees_number_seq')::text, 6, '0')
        from next where employees.id = next.id returning employee_number as number`);
      if (rows[0] === undefined) return numbers;
      numbers.push(rows[0].number);
    }
  } finally {
    await client.end();
  }
}
