import { age } from '../../operator/ages.ts';
import type { Status } from '../../operator/status/read-status.ts';

/** Lines of one kind; whoever has more reads them with --json. */
const MOST_OF_A_KIND = 50;

/** What a person should look at, the widest first: freezes, pauses, alarms, webhooks. One paragraph each. */
export function troubleLines({ freezes, tenants }: Status): string[] {
  const pauses = tenants.flatMap(({ tenantId, paused }) =>
    paused ? [`${tenantId} is paused: ${paused.message} [${paused.code}]`] : [],
  );
  const alarms = tenants.flatMap(({ tenantId, alarms: own }) =>
    own
      // Said above.
      .filter(({ kind }) => kind !== 'tenant-paused')
      .map(
        ({ subject, reason, message, ageMs }) =>
          `alarm: ${tenantId} ${subject}, for ${age(ageMs)}: ${message} [${reason}]`,
      ),
  );
  const warnings = tenants.flatMap(({ webhookWarning }) =>
    webhookWarning === undefined ? [] : [`warning: ${webhookWarning}`],
  );
  return [freezes.map(freezeLine), pauses, alarms, warnings].flatMap(shortened);
}

function shortened(lines: readonly string[]): string[] {
  if (lines.length <= MOST_OF_A_KIND) return [...lines];
  const more = lines.length - MOST_OF_A_KIND;
  return [...lines.slice(0, MOST_OF_A_KIND), `... and ${more} more like these: hirebridge status --json`];
}

function freezeLine({ tenantId, ageMs, by }: Status['freezes'][number]): string {
  const whose = tenantId ?? 'Every tenant';
  const thaw = `hirebridge thaw ${tenantId ?? '--all'}`;
  return `${whose} is frozen by ${by}, for ${age(ageMs)}: nothing is written. To let it go on: ${thaw}`;
}
