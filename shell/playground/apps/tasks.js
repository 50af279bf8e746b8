/** Tasks in a framework (Preact with htm): its root lives as long as the window. */
import { html, render as mount, useState, useEffect } from '/vendor/standalone.module.js';

const FIRST = [
  { id: 1, text: 'Send the offer to Conti', done: false },
  { id: 2, text: 'Check the delivery of week 43', done: false },
  { id: 3, text: 'Order coffee', done: true },
  { id: 4, text: 'Prepare the review', done: false },
];

function Tasks({ onCount }) {
  const [tasks, setTasks] = useState(FIRST);
  const [text, setText] = useState('');
  useEffect(() => onCount(tasks.filter((task) => !task.done).length), [tasks]);
  const add = (event) => {
    event.preventDefault();
    if (!text.trim()) return;
    setTasks([...tasks, { id: Date.now(), text: text.trim(), done: false }]);
    setText('');
  };
  const toggle = (id) => setTasks(tasks.map((task) => (task.id === id ? { ...task, done: !task.done } : task)));
  return html`<div class="pg-column">
    <form class="pg-tools" onSubmit=${add}>
      <input class="pg-input" aria-label="New task" placeholder="New task" value=${text} onInput=${(event) => setText(event.target.value)} />
      <button class="pg-button" type="submit">Add</button>
    </form>
    <ul class="pg-tasks">
      ${tasks.map((task) => html`<li key=${task.id}><label><input type="checkbox" checked=${task.done} onChange=${() => toggle(task.id)} /> <span>${task.text}</span></label></li>`)}
    </ul>
  </div>`;
}

export const tasks = {
  id: 'tasks',
  title: 'Tasks',
  icon: 'todo.svg',
  accent: '#2d77d1',
  width: 420,
  height: 440,
  render({ host, onClose }) {
    mount(html`<${Tasks} onCount=${(count) => globalThis.Shell.setBadge('tasks', count)} />`, host);
    onClose(() => mount(null, host));
  },
};
