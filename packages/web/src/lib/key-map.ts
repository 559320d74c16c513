/** What single keys do, with the keys that they have unless their user has chosen others. */
export const defaultKeys = {
  next: 'j',
  previous: 'k',
  react: 'l',
  answer: 'r',
  bookmark: 'b',
  write: 'n',
  search: '/',
  goTo: 'g',
  help: '?',
} as const

export type KeyTask = keyof typeof defaultKeys
/** The key of each task; no two have the same. */
export type KeyMap = Readonly<Record<KeyTask, string>>

export const keyTasks = Object.keys(defaultKeys) as readonly KeyTask[]

/** Whether a key may be a shortcut: one visible character. */
export function isShortcutKey(key: string): boolean {
  return /^[^\s\p{C}]$/u.test(key)
}

/** The task of a key. */
export function taskOf(keys: KeyMap, key: string): KeyTask | undefined {
  return keyTasks.find((task) => keys[task] === key)
}

/** Gives a task another key; the task that has it takes the former key of this one. */
export function withKey(keys: KeyMap, task: KeyTask, key: string): KeyMap {
  const other = taskOf(keys, key)
  return { ...keys, ...(other ? { [other]: keys[task] } : {}), [task]: key }
}

/** The keys as they were kept, by `keptKeys`; what is no choice of keys is left out. */
export function readKeys(kept: unknown): KeyMap {
  const chosen = typeof kept === 'object' && kept !== null ? Object.entries(kept) : []
  let keys: KeyMap = defaultKeys
  for (const [task, key] of chosen)
    if (isTask(task) && typeof key === 'string' && isShortcutKey(key)) keys = withKey(keys, task, key)
  return keys
}

/** What of the keys is to be kept: those that were changed. */
export function keptKeys(keys: KeyMap): Readonly<Partial<Record<KeyTask, string>>> {
  return Object.fromEntries(
    Object.entries(keys).filter(([task, key]) => defaultKeys[task as KeyTask] !== key),
  )
}

function isTask(name: string): name is KeyTask {
  return keyTasks.some((task) => task === name)
}
