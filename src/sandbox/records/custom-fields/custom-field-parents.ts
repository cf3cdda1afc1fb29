import type { Context } from '../../context.ts';
import { invalidRequest, refuse } from '../../errors.ts';

/** Only work_experience is shown in section 2.5; the other entries of a profile that have ids go the same way (F9). */
const LISTS: Record<string, string> = {
  work_experience: 'workExperiences',
  education: 'educations',
  project_experience: 'projectExperiences',
  certification: 'certifications',
};

interface Nested {
  entityType: string;
  entityId: string | number;
  parentEntityType?: string | null | undefined;
  parentEntityId?: string | number | null | undefined;
}

/** A nested value hangs on an entry of the candidate's profile: 400 unless it names one, 404 when there is none. */
export function requireParent(ctx: Context, { entityType, entityId, ...parent }: Nested): void {
  const { parentEntityType: type, parentEntityId: id } = parent;
  if ((type ?? id ?? undefined) === undefined) return;
  if (id === null || id === undefined)
    throw invalidRequest('A parentEntityType needs the id of the parent', { parentEntityId: 'is required' });
  if (type === null || type === undefined)
    throw invalidRequest('A parentEntityId needs the type of the parent', { parentEntityType: 'is required' });
  const list = LISTS[type];
  if (list === undefined || entityType !== 'candidate') {
    const known = entityType === 'candidate' ? `must be one of ${Object.keys(LISTS).join(', ')}` : 'is for candidates';
    throw invalidRequest('There is no such parent', { parentEntityType: known });
  }
  if (!hasEntry(ctx, { candidateId: Number(entityId), list, id: String(id) }))
    throw refuse('NOT_FOUND', 'Parent not found', { parentEntityId: `is no ${type} of the candidate` });
}

function hasEntry(ctx: Context, { candidateId, list, id }: { candidateId: number; list: string; id: string }): boolean {
  const found = ctx.state.one(
    `select 1 from candidates c, json_each(c.body, '$.' || ?) entry where c.id = ? and c.company_id = ?
      and case when entry.type = 'object' then cast(entry.value ->> 'id' as text) end = ?`,
    list,
    candidateId,
    ctx.company.id,
    id,
  );
  return found !== undefined;
}
