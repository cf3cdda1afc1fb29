import { actButton, actionForm, actionLabel } from './acts.js';
import { actions, company, read } from './api.js';
import { badge, card, external, facts, make } from './dom.js';

/** Key, webhook, credits and data of the company that is looked at. */
export async function companyView() {
  const [{ companies }, health] = await Promise.all([read('/companies'), read('/healthz')]);
  const own = companies.find((one) => one.id === company.id) ?? companies[0];
  const webhook = await actionForm('setWebhook', {
    label: 'Save',
    done: 'Webhook saved',
    preset: { url: own.webhookUrl ?? '', key: own.webhookKey ?? '' },
  });
  const credits = await actionForm('setCredits', { label: 'Save', done: 'Credits saved', preset: own });
  const seed = await actionForm('seed', { label: 'Add invented people', done: 'Added' });
  return make(
    'div',
    {},
    make('div', { className: 'head' }, make('h1', {}, own.name), actButton('Another company', 'createCompany')),
    card(
      'Access',
      facts([
        ['API', make('code', {}, health.baseUrl)],
        ['Key', make('code', {}, own.apiKey ?? 'none')],
        ['Key is', badge(own.keyActive ? 'ACTIVE' : 'INACTIVE')],
        ['Account is', badge(own.accountActive ? 'ACTIVE' : 'INACTIVE')],
        ['Documents', documents()],
      ]),
      make('div', { className: 'actions' }, ...accessActs(own)),
    ),
    card(
      'Webhook',
      webhook.form,
      own.webhookUrl !== null &&
        make(
          'div',
          { className: 'actions' },
          actButton('Switch the webhook off', 'setWebhook', { given: { url: null }, ask: [] }),
        ),
    ),
    card('Credits', credits.form),
    card(
      'Data',
      make('p', { className: 'soft' }, 'Invented jobs and people come without events, as if they were always there.'),
      seed.form,
    ),
  );
}

function accessActs({ keyActive, accountActive }) {
  return [
    keyActive
      ? actButton('Deactivate the key', 'deactivateKey', { ask: [] })
      : actButton('Activate the key', 'activateKey', { ask: [], tone: 'primary' }),
    actButton('Make a new key', 'regenerateKey', { ask: [], sure: 'The old key is invalid at once.' }),
    accountActive
      ? actButton('End the subscription', 'deactivateAccount', { ask: [] })
      : actButton('Renew the subscription', 'reactivateAccount', { ask: [], tone: 'primary' }),
  ];
}

function documents() {
  const names = ['openapi.json', 'openapi.yaml', 'collection.json', 'environment.json'];
  return make('span', { className: 'inline' }, ...names.map((name) => external(`/${name}`, name)));
}

/** Every action with its form, for what has no button elsewhere. */
export async function actionsView() {
  const known = [...(await actions()).values()];
  const parts = known.map(actionPart);
  const find = make('input', {
    type: 'search',
    placeholder: 'offer, credits, fault',
    oninput() {
      const wanted = find.value.trim().toLowerCase();
      for (const part of parts) part.hidden = !part.textContent.toLowerCase().includes(wanted);
    },
  });
  const element = make(
    'div',
    {},
    make('div', { className: 'head' }, make('h1', {}, 'All actions')),
    make('p', { className: 'under' }, `Everything a person or a test may do, ${known.length} actions in all.`),
    make('div', { className: 'filters' }, make('label', {}, 'Find an action', find)),
    make('div', { className: 'log' }, ...parts),
  );
  return { element, refresh: () => undefined };
}

/** The form is made when it is opened first. */
function actionPart({ name, summary }) {
  const answer = make('pre', { hidden: true, tabIndex: 0 });
  const finished = (result) => {
    answer.hidden = false;
    answer.textContent = JSON.stringify(result, null, 2);
  };
  const open = async () => {
    const { form } = await actionForm(name, { label: actionLabel(name), done: `${actionLabel(name)}: done`, finished });
    details.append(form, answer);
  };
  const line = make('summary', {}, make('b', {}, actionLabel(name)), make('span', { className: 'soft grow' }, summary));
  const details = make('details', { className: 'entry' }, line);
  details.addEventListener('toggle', () => void open(), { once: true });
  return details;
}
