// Updates a line that screen readers announce.
export default function ({ data, parentElement }) {
  const line = parentElement.querySelector("p");
  if (line.textContent !== data.said) line.textContent = data.said;
}
