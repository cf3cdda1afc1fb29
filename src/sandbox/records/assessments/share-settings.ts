import type { Context } from '../../context.ts';

/** What a public result page may tell. */
export const sharedParts = ['name', 'score', 'bucket', 'cefrLevel'] as const;
export type SharedPart = (typeof sharedParts)[number];

/** Section 1, rule 2: configured in the dashboard only, for all results of the company. */
interface SharePageSettings {
  enabled: boolean;
  shows: readonly SharedPart[];
}

const AT_FIRST: SharePageSettings = { enabled: true, shows: sharedParts };

export function setSharePage(ctx: Context, to: SharePageSettings): void {
  ctx.state.saveSetting(settingOf(ctx), JSON.stringify(to));
}

export function sharePageSettings(ctx: Context): SharePageSettings {
  const saved = ctx.state.setting(settingOf(ctx));
  return saved === undefined ? AT_FIRST : (JSON.parse(saved) as SharePageSettings);
}

function settingOf(ctx: Context): string {
  return `share-page-${String(ctx.company.id)}`;
}
