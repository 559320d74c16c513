// Nothing else holds it while the choice is open, which may take long.
let chooser: HTMLInputElement | undefined

/** Opens the browser's choice of files, or of a folder. */
export function chooseFiles(what: 'files' | 'folder', onChosen: (files: FileList) => void): void {
  const input = document.createElement('input')
  input.type = 'file'
  input.multiple = true
  input.webkitdirectory = what === 'folder'
  input.onchange = () => {
    chooser = undefined
    if (input.files) onChosen(input.files)
  }
  input.oncancel = () => {
    chooser = undefined
  }
  chooser = input
  chooser.click()
}
