import { useEffect, useState } from 'preact/hooks'
import { type PlacedFile, readChosen, readDropped } from '#lib/dropped-files.ts'
import type { Arrival, DoublesAnswer, Ready } from './add-files.ts'
import { chooseFiles } from './choose-files.ts'
import { useRun } from './use-run.ts'

export interface Uploading {
  /** Opens the browser's choice of files, or of a folder. */
  choose(what: 'files' | 'folder'): void
  readonly isDragging: boolean
  /** Files of which names are there already, until someone has said what becomes of them. */
  readonly asked: Arrival | undefined
  answer(doubles: DoublesAnswer | undefined): void
  /** Files for which there is not enough room, until someone has made some, or sends what fits. */
  readonly crowded: Ready | undefined
  /** `again`: room was made. */
  answerRoom(what: 'again' | 'fitting' | undefined): void
}

// The code of the queue comes with the first file.
const adding = () => import('./add-files.ts')

/** Takes files for a folder: by choice, or dropped anywhere on the window. */
export function useUploading(parentId: string | undefined, isOff: boolean): Uploading {
  const run = useRun()
  const [asked, setAsked] = useState<Arrival>()
  const [crowded, setCrowded] = useState<Ready>()
  const ready = async (arrival: Arrival, doubles: DoublesAnswer) => {
    const { makeReady, send } = await adding()
    const made = await makeReady(arrival, doubles)
    if (made.missingBytes > 0) setCrowded(made)
    else {
      setCrowded(undefined)
      send(made)
    }
  }
  const take = (files: readonly PlacedFile[]) =>
    run(async () => {
      if (files.length === 0) return
      const { lookAtNames } = await adding()
      const arrival = await lookAtNames(files, parentId)
      if (arrival.doubles.length > 0) setAsked(arrival)
      else await ready(arrival, 'number')
    })
  return {
    choose: (what) => chooseFiles(what, (files) => void take(readChosen(files))),
    isDragging: useDrop(isOff, (data) => void readDropped(data).then(take)),
    asked,
    answer: (doubles) => {
      setAsked(undefined)
      if (asked && doubles) void run(() => ready(asked, doubles))
    },
    crowded,
    answerRoom: (what) => {
      if (crowded && what === 'again') return void run(() => ready(crowded.arrival, crowded.doubles))
      setCrowded(undefined)
      if (crowded && what === 'fitting') void adding().then(({ send }) => send(crowded))
    },
  }
}

/** Whether files are being dragged over the window, which takes them anywhere. */
function useDrop(isOff: boolean, onDrop: (data: DataTransfer) => void): boolean {
  const [isDragging, setDragging] = useState(false)
  useEffect(() => {
    if (isOff) return
    const over = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes('Files')) return
      event.preventDefault()
      setDragging(true)
    }
    const leave = (event: DragEvent) => event.relatedTarget === null && setDragging(false)
    const drop = (event: DragEvent) => {
      setDragging(false)
      if (!event.dataTransfer?.types.includes('Files')) return
      event.preventDefault()
      onDrop(event.dataTransfer)
    }
    window.addEventListener('dragover', over)
    window.addEventListener('dragleave', leave)
    window.addEventListener('drop', drop)
    return () => {
      window.removeEventListener('dragover', over)
      window.removeEventListener('dragleave', leave)
      window.removeEventListener('drop', drop)
    }
  })
  return isDragging
}
