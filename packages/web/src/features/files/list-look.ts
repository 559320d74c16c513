import { useState } from 'preact/hooks'
import { type Sort, sorts } from './files-query.ts'

/** How lists of files are shown on this device. */
export interface ListLook {
  readonly isTiles: boolean
  readonly sort: Sort
  readonly isDescending: boolean
}

const storageKey = 'kith-files-look'

/** The look that was chosen last, and how to choose another. */
export function useListLook(): readonly [ListLook, (look: ListLook) => void] {
  const [look, setLook] = useState(read)
  return [
    look,
    (next) => {
      setLook(next)
      try {
        localStorage.setItem(storageKey, JSON.stringify(next))
      } catch {
        // Without storage the choice holds until the screen is left.
      }
    },
  ]
}

function read(): ListLook {
  try {
    const { isTiles, sort, isDescending } = JSON.parse(localStorage.getItem(storageKey) ?? '{}')
    const known = sorts.find((one) => one === sort) ?? 'name'
    return { isTiles: isTiles === true, sort: known, isDescending: isDescending === true }
  } catch {
    return { isTiles: false, sort: 'name', isDescending: false }
  }
}
