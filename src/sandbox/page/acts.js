import { act, actions, Refused } from './api.js';
import { fieldLabel, make } from './dom.js';
import { fieldsOf, laidOut, valuesOf } from './fields.js';

const toasts = document.getElementById('toasts');

/** Says what happened, for a while; a refusal stays until it is put away. */
export function tell(message, tone = 'good') {
  const toast = make('p', { className: `notice ${tone}` }, message);
  const close = make('button', { type: 'button', 'aria-label': 'Dismiss', onclick: () => toast.remove() }, '×');
  toast.append(close);
  toasts.append(toast);
  if (tone === 'good') setTimeout(() => toast.remove(), 4000);
}

/** Whoever shows what an act may have changed listens for `acted` on the document. */
async function run(name, input, done) {
  const result = await act(name, input);
  tell(done);
  document.dispatchEvent(new CustomEvent('acted', { detail: { name, input, result } }));
  return result;
}

/**
 * A button for one action. `given` fields are fixed, `ask` names those a form asks for (all others of the action when
 * it is left out, none when it is empty), `preset` is what stands in them, `lists` where pickers choose from that are
 * not told by the field's name, `shapes` a narrower schema of a field. `next` gets the result.
 */
export function actButton(label, name, { given = {}, ask, preset = {}, lists, shapes, tone = '', sure, next } = {}) {
  const done = `${label}: done`;
  const onclick = async (event) => {
    const button = event.currentTarget;
    if (sure !== undefined && !(await confirmed(label, sure))) return;
    if (ask?.length !== 0) {
      await askFor(label, name, { given, ask, preset, lists, shapes, done, next });
      return;
    }
    button.disabled = true;
    try {
      const result = await run(name, given, done);
      next?.(result);
    } catch (error) {
      tell(reason(error), 'bad');
    } finally {
      button.disabled = false;
    }
  };
  return make('button', { type: 'button', className: tone, onclick }, label);
}

function reason(error) {
  return error instanceof Refused ? error.message : `Something went wrong: ${error.message}`;
}

function dialog(title, ...content) {
  const heading = make('h2', { id: 'dialog-title' }, title);
  const box = make('dialog', { 'aria-labelledby': 'dialog-title', onclose: () => box.remove() }, heading, ...content);
  document.body.append(box);
  box.showModal();
  return box;
}

/** A question before what cannot be undone. */
function confirmed(label, question) {
  const { promise, resolve } = Promise.withResolvers();
  const answer = (yes) => () => {
    resolve(yes);
    box.close();
  };
  const buttons = make(
    'div',
    { className: 'actions' },
    make('button', { type: 'button', className: 'danger', onclick: answer(true) }, label),
    make('button', { type: 'button', onclick: answer(false) }, 'Cancel'),
  );
  const box = dialog(`${label}?`, make('p', {}, question), buttons);
  box.addEventListener('close', () => resolve(false));
  return promise;
}

async function askFor(label, name, { next, ...how }) {
  const { form } = await actionForm(name, { ...how, label, finished });
  const cancel = make('button', { type: 'button', onclick: () => box.close() }, 'Cancel');
  form.querySelector('.actions').append(cancel);
  const box = dialog(label, form);
  form.querySelector('input, select, textarea')?.focus();

  function finished(result) {
    box.close();
    next?.(result);
  }
}

/** The form of an action; what is refused is told above its buttons. */
export async function actionForm(name, { given = {}, ask, preset = {}, lists, shapes, label, done, finished }) {
  const action = (await actions()).get(name);
  const schema = askedOf(action.input, given, { ask, shapes });
  const fields = fieldsOf(schema, preset, lists);
  const before = valuesOf(fields);
  const alert = make('p', { className: 'notice bad', role: 'alert', hidden: true });
  const submit = make('button', { className: 'primary' }, label);
  const onsubmit = async (event) => {
    event.preventDefault();
    submit.disabled = true;
    alert.hidden = true;
    try {
      finished?.(await run(name, { ...changed(before, valuesOf(fields)), ...given }, done));
    } catch (error) {
      alert.textContent = reason(error);
      alert.hidden = false;
    } finally {
      submit.disabled = false;
    }
  };
  const order = ask !== undefined && ask.length > 0;
  const content = fields.length > 0 && laidOut(fields, schema.required, order);
  const form = make('form', { onsubmit }, content, alert, make('div', { className: 'actions' }, submit));
  return { form, summary: action.summary };
}

/** Of the fields of a record that is edited (`fields` in every such action), only what is not as it was. */
function changed(before, { fields, ...rest }) {
  if (fields === undefined) return rest;
  const isNew = ([name, value]) => JSON.stringify(value) !== JSON.stringify(before.fields?.[name]);
  return { ...rest, fields: Object.fromEntries(Object.entries(fields).filter(isNew)) };
}

/** The schema without what is given; `ask` also says the order. */
function askedOf({ properties = {}, required = [] }, given, { ask, shapes }) {
  const names = (ask ?? Object.keys(properties)).filter((name) => !(name in given) && name in properties);
  return {
    properties: Object.fromEntries(names.map((name) => [name, shapes?.[name] ?? properties[name]])),
    required: required.filter((name) => names.includes(name)),
  };
}

/** `setJobStatus` as the label of a button. */
export function actionLabel(name) {
  return fieldLabel(name);
}
