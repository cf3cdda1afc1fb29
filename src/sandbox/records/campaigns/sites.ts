import type { Context } from '../../context.ts';
import { effect } from '../../context.ts';
import { notFound } from '../../errors.ts';

/** Fields are not shown (SITES, assumed). */
export interface Site {
  id: number;
  name: string;
  timezone: string;
}

/** A site; linked means assigned to the user whose API key it is. */
export function createSite(ctx: Context, input: { name: string; timezone: string; linked: boolean }): Site {
  const id = ctx.state.nextId('site', 801);
  ctx.state.run(
    'insert into company_sites (id, company_id, name, timezone, linked) values (?, ?, ?, ?, ?)',
    id,
    ctx.company.id,
    input.name,
    input.timezone,
    Number(input.linked),
  );
  effect(ctx, 'site', id);
  return { id, name: input.name, timezone: input.timezone };
}

export function linkedSites(ctx: Context): Site[] {
  return ctx.state.all<Site>(
    'select id, name, timezone from company_sites where company_id = ? and linked = 1 order by id',
    ctx.company.id,
  );
}

export function setSiteLinked(ctx: Context, id: number, linked: boolean): void {
  const changed = ctx.state.run(
    'update company_sites set linked = ? where id = ? and company_id = ?',
    Number(linked),
    id,
    ctx.company.id,
  );
  if (changed === 0) throw notFound('Site');
}

/** Outbound numbers a campaign may call from. */
export function verifiedNumbers(ctx: Context): string[] {
  return ctx.state
    .all<{ phoneNumber: string }>(
      'select phone_number as phoneNumber from verified_numbers where company_id = ? order by phone_number',
      ctx.company.id,
    )
    .map((row) => row.phoneNumber);
}

export function setNumberVerified(ctx: Context, phoneNumber: string, verified: boolean): void {
  ctx.state.run(
    verified
      ? 'insert or ignore into verified_numbers (company_id, phone_number) values (?, ?)'
      : 'delete from verified_numbers where company_id = ? and phone_number = ?',
    ctx.company.id,
    phoneNumber,
  );
}
