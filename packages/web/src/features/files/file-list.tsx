import type { FileView } from '@kith/protocol'
import type { RefObject } from 'preact'
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { gridStep } from '#lib/grid-keys.ts'
import { extended, noSelection, type Selection, toggled } from '#lib/selection.ts'
import { createTypeAhead } from '#lib/type-ahead.ts'
import { Kept } from '#ui/kept.ts'
import { useGridRows } from '#ui/use-grid-rows.ts'
import styles from './file-list.module.css'
import { FileRow, type RowActions } from './file-row.tsx'

interface FileListProps {
  readonly label: string
  readonly files: readonly FileView[]
  readonly isTiles: boolean
  readonly selection: Selection
  readonly onSelection: (selection: Selection) => void
  readonly onAll: () => void
  readonly onOpen: (file: FileView) => void
  readonly onMenu: (file: FileView, at: { readonly x: number; readonly y: number }) => void
  readonly onDelete: (file: FileView) => void
  readonly onRename: (file: FileView) => void
}

/** Files as a list or as tiles: one tab stop, arrow keys, and a selection. */
export function FileList(props: FileListProps) {
  const { label, files, isTiles, selection, onOpen, onMenu } = props
  const [focused, setFocused] = useState<string>()
  const index = Math.max(
    0,
    files.findIndex(({ fileId }) => fileId === focused),
  )
  const active = files[index]
  const grid = useGridRows({ count: files.length, kept: index, ...looks[isTiles ? 'tiles' : 'list'] })
  const focusSoon = useFocusSoon(grid.container)
  const move = ({ fileId }: FileView) => {
    setFocused(fileId)
    focusSoon(fileId)
  }
  // The same while one scrolls, so that no row is rendered again.
  const actions = useMemo<RowActions>(() => {
    const focus = ({ fileId }: FileView) => setFocused(fileId)
    return { open: onOpen, menu: onMenu, focus, toggle: toggleOf(props) }
  }, [props])
  return (
    // biome-ignore lint/a11y/useSemanticElements: tiles are no table
    <div
      role="grid"
      aria-label={label}
      aria-multiselectable="true"
      aria-rowcount={-1}
      ref={grid.container}
      class={isTiles ? styles.tiles : styles.list}
      style={{ height: grid.height }}
      onKeyDown={(event) => onKey(event, { ...props, active, columns: grid.columns, actions, move })}
    >
      <Lines {...{ grid, files, isTiles, selection, active, actions }} />
    </div>
  )
}

function toggleOf({ files, selection, onSelection }: FileListProps): RowActions['toggle'] {
  return ({ fileId }, how) => {
    const order = () => files.map((file) => file.fileId)
    onSelection(how === 'one' ? toggled(selection, fileId) : extended(selection, fileId, order()))
  }
}

interface LinesProps extends Pick<FileListProps, 'files' | 'isTiles' | 'selection'> {
  readonly grid: ReturnType<typeof useGridRows>
  readonly active: FileView | undefined
  readonly actions: RowActions
}

/** The files near the visible part, line by line. */
function Lines({ grid, files, isTiles, selection, active, actions }: LinesProps) {
  return grid.rows.map(({ key, index, top, from, until }) => (
    <div
      key={key}
      ref={grid.measure}
      role="presentation"
      data-index={index}
      class={styles.line}
      style={{ top }}
    >
      {files.slice(from, until).map((file, at) => {
        const row = {
          file,
          index: from + at,
          isChosen: selection.chosen.has(file.fileId),
          isActive: file === active,
          hasSelection: selection.chosen.size > 0,
          isTiles,
          actions,
        }
        return (
          <Kept key={file.fileId} by={Object.values(row)}>
            {() => <FileRow {...row} />}
          </Kept>
        )
      })}
    </div>
  ))
}

// In px, as the style sheet has them; a tile has a picture of 4 to 3 and two lines.
const looks = {
  list: { estimate: () => 57, gap: 0 },
  tiles: { estimate: (width: number) => 0.75 * width + 61, gap: 12 },
}

/** Gives a file the focus once it is rendered: it may be far from what is seen. */
function useFocusSoon(container: RefObject<HTMLElement>) {
  const wanted = useRef<string>()
  useLayoutEffect(() => {
    if (wanted.current === undefined) return
    const rows = [...(container.current?.querySelectorAll<HTMLElement>('[data-file]') ?? [])]
    const row = rows.find(({ dataset }) => dataset.file === wanted.current)
    if (!row) return
    wanted.current = undefined
    row.focus()
  })
  return (fileId: string) => {
    wanted.current = fileId
  }
}

interface KeyContext extends FileListProps {
  readonly active: FileView | undefined
  readonly columns: number
  readonly actions: RowActions
  /** Moves the focus. */
  readonly move: (file: FileView) => void
}

function onKey(event: KeyboardEvent, context: KeyContext): void {
  const { selection, onSelection, onAll, active: file } = context
  if (!file) return
  const isControl = event.ctrlKey || event.metaKey
  // Keys of the buttons in a row are theirs.
  const isOnRow = document.activeElement?.getAttribute('role') === 'row'
  if (event.key === 'a' && isControl) onAll()
  else if (event.key === 'Escape' && selection.chosen.size > 0) onSelection(noSelection)
  else if (isControl || event.altKey) return
  else if (isOnRow && typed(event, file, context)) event.stopPropagation()
  else if (!stepped(event, file, context) && !(isOnRow && pressed(event.key, file, context))) return
  event.preventDefault()
}

const typeAhead = createTypeAhead()

/** Letters lead to the next file whose name begins with them; they are no shortcuts then. */
function typed(event: KeyboardEvent, from: FileView, { files, move }: KeyContext): boolean {
  const names = files.map(({ fileName }) => fileName)
  const found = typeAhead.find(event.key, { names, from: files.indexOf(from), nowMs: event.timeStamp })
  const target = found === undefined ? undefined : files[found]
  if (!target) return false
  move(target)
  return true
}

/** Moves the focus; with shift what is passed is selected. */
function stepped(
  event: KeyboardEvent,
  from: FileView,
  { files, selection, onSelection, columns, move }: KeyContext,
): boolean {
  const step = gridStep(event.key, files.indexOf(from), files.length, columns)
  const target = step === undefined ? undefined : files[step]
  if (!target) return false
  move(target)
  if (event.shiftKey) {
    const begun = selection.anchor === undefined ? toggled(selection, from.fileId) : selection
    const order = files.map(({ fileId }) => fileId)
    onSelection(extended(begun, target.fileId, order))
  }
  return true
}

function pressed(key: string, file: FileView, { onOpen, onDelete, onRename, actions }: KeyContext): boolean {
  const presses: Readonly<Record<string, () => void>> = {
    Enter: () => onOpen(file),
    ' ': () => actions.toggle(file, 'one'),
    Delete: () => onDelete(file),
    F2: () => onRename(file),
  }
  presses[key]?.()
  return presses[key] !== undefined
}
