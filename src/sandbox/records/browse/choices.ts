import type { Source } from './rows.ts';

/** A list that is only chosen from: each row its id and what a person calls it. */
function choice(from: string, label: string, { id = 'x.id', order = 'x.rowid' } = {}): Source {
  return { select: `select ${id} as id, ${label} as label from ${from}`, alias: 'x', search: label, order };
}

const NAME = "trim(concat_ws(' ', x.first_name, x.last_name, '<' || x.email || '>'))";

/** What the pickers of forms offer besides the lists of the page. */
export const CHOICES: Record<string, Source> = {
  assessments: choice('assessments x', "x.body ->> 'testName'"),
  'booking-links': choice(
    'booking_links x join booking_schedules h on h.id = x.schedule_id',
    `concat_ws(' ', x.person ->> 'firstName', x.person ->> 'lastName', h.body ->> 'name', lower(x.status))`,
  ),
  campaigns: choice('campaigns x', "x.body ->> 'title'"),
  'custom-fields': choice('custom_fields x', "x.field_label || ' (' || x.entity_type || ')'"),
  'flow-candidates': choice('flow_candidates x', `${NAME} || ', ' || lower(x.status)`),
  leads: choice('campaign_leads x', "concat_ws(' ', x.body ->> 'firstName', x.body ->> 'lastName', lower(x.status))"),
  'onboarding-flows': choice('onboarding_flows x', 'x.name', { order: 'x.seq' }),
  pipelines: choice('pipelines x', 'x.name'),
  schedules: choice('booking_schedules x', "x.body ->> 'name'", { order: 'x.deleted, x.seq' }),
  sites: choice('company_sites x', 'x.name'),
  stages: choice('stages x join pipelines p on p.id = x.pipeline_id', "x.name || ', ' || p.name", {
    order: 'x.pipeline_id, x.position',
  }),
  submissions: choice(
    `submissions x join assessment_invites i on i.id = x.invite_id join assessments t on t.id = x.assessment_id`,
    `concat_ws(' ', i.first_name, i.last_name, t.body ->> 'testName', lower(replace(x.status, '_', ' ')))`,
    { order: 'x.seq desc' },
  ),
  teams: choice('teams x', 'x.name', { order: 'x.seq' }),
  users: choice('users x', NAME, { order: 'x.seq' }),
};
