/** CopilotKit knows dark only as a class; the person's setting decides. */
export function followColourScheme(): void {
  const dark = window.matchMedia('(prefers-color-scheme: dark)')
  const apply = () => document.documentElement.classList.toggle('dark', dark.matches)
  dark.addEventListener('change', apply)
  apply()
}
