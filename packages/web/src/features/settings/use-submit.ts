import { useState } from 'preact/hooks'
import { useExplain } from '#ui/problem.tsx'

/** What a form does with its fields, whether it is at it, and what went wrong. `reasonOf` knows better than the general
 * sentences why. */
export function useSubmit(
  work: (form: HTMLFormElement, fields: (name: string) => string) => Promise<unknown>,
  reasonOf: (error: unknown) => string | undefined = () => undefined,
) {
  const explain = useExplain()
  const [problem, setProblem] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const submit = async (form: HTMLFormElement) => {
    const fields = new FormData(form)
    setBusy(true)
    setProblem(undefined)
    try {
      await work(form, (name) => String(fields.get(name) ?? ''))
    } catch (error) {
      setProblem(reasonOf(error) ?? explain(error))
    }
    setBusy(false)
  }
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault()
    void submit(event.currentTarget as HTMLFormElement)
  }
  return { problem, isBusy, onSubmit }
}
