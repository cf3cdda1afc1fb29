import { userInfo } from 'node:os';
import { relative } from 'node:path';
import type { Command } from 'commander';
import type { Explained, ExplainedField } from '../operator/explain-record.ts';
import { example, placesOf } from './options.ts';
import { printJson } from './print-json.ts';
import { withStore } from './with-store.ts';

export function addExplain(program: Command): void {
  program
    .command('explain')
    .description(
      'Explain every field of a hire: source value, rule with file and line, each step, what was planned and ' +
        'written. Reads the partner; writes nothing there. Fields that the mapping calls sensitive are masked.',
    )
    .argument('<tenant>', 'tenant of the hire')
    .argument('<jobCandidateId>', "the partner's id of the job candidate")
    .option('--reveal', 'show sensitive values too; who did is written down')
    .option('--as <name>', 'who reveals; by default the user of this system')
    .option('--json', 'print JSON')
    .addHelpText('after', example('hirebridge explain acme 5012'))
    .action(runExplain);
}

interface ExplainOptions {
  reveal?: boolean;
  as?: string;
  json?: boolean;
}

async function runExplain(tenantId: string, id: string, options: ExplainOptions, command: Command): Promise<void> {
  const places = placesOf(command);
  const [{ explainRecord, maskSensitive }, { audit }, { assertKnownTenant }, { loadTenants }] = await Promise.all([
    import('../operator/explain-record.ts'),
    import('../store/audit.ts'),
    import('../operator/assert-known-tenant.ts'),
    import('../tenants/load-tenants.ts'),
  ]);
  const tenants = await loadTenants(places.tenantsDir, { secrets: 'skip' });
  assertKnownTenant(tenants, tenantId);
  const [tenant] = tenants.filter((one) => one.tenant === tenantId);
  if (tenant === undefined) return;
  const explained = await withStore(
    places,
    async (store) => {
      const whole = await explainRecord(store, tenant, id);
      if (options.reveal !== true) return maskSensitive(whole);
      const by = options.as ?? userInfo().username;
      await audit(store, { by, tenantId, act: 'revealed', details: `job candidate ${id}` });
      return whole;
    },
    { mustExist: true },
  );
  if (options.json === true) printJson(explained);
  else process.stdout.write(render(explained));
}

function render({ mapping, plan, employee, fields }: Explained): string {
  const planned =
    plan === undefined
      ? 'nothing is planned yet'
      : `planned ${plan.plannedAt} by mapping ${plan.mapping}, ${
          plan.appliedAt === null ? 'not written yet' : `written ${plan.appliedAt}`
        }`;
  const who =
    employee === null ? 'no employee yet' : `employee ${employee.id}, number ${employee.number ?? 'not given'}`;
  return [`mapping ${mapping}; ${planned}; ${who}\n`, ...fields.map(renderField)].join('\n');
}

function renderField({ field, rule, file, line, steps, ...rest }: ExplainedField): string {
  const near = relative(process.cwd(), file);
  const result = rest.problem === undefined ? text(rest.value, 'left out') : `nothing: ${rest.problem}`;
  const lines = [
    ['rule', `${rule}  ${near.startsWith('..') ? file : near}:${line}`],
    ...steps.map(({ step, value }) => [step, text(value, 'empty')]),
    ['gives', result],
    ...('planned' in rest ? [['planned', text(rest.planned, 'empty')]] : []),
  ];
  return `${field}\n${lines.map(([what = '', shown = '']) => `  ${what.padEnd(20)}  ${shown}\n`).join('')}`;
}

function text(value: unknown, none: string): string {
  return value === undefined || value === null ? none : JSON.stringify(value);
}
