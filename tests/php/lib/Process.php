<?php

declare(strict_types=1);

/** A process that a test started. */
final class Process
{
    /** @var resource */
    private $process;

    /** @var resource|null */
    private $input;

    private string $output;

    private ?int $exit = null;

    /** @param list<string> $command */
    public function __construct(array $command)
    {
        $this->output = tempnam(folder(), 'out.');
        $out = ['file', $this->output, 'a'];
        $this->process = proc_open($command, [['pipe', 'r'], $out, $out], $pipes);
        $this->input = $pipes[0];
    }

    /** What it printed so far, errors too. */
    public function output(): string
    {
        return (string) file_get_contents($this->output);
    }

    /** Waits until it has printed this. */
    public function says(string $text): self
    {
        until(function () use ($text) {
            if (!str_contains($this->output(), $text) && !$this->running()) {
                throw new LogicException("ended without printing \"$text\": {$this->output()}");
            }
            return str_contains($this->output(), $text);
        }, "prints \"$text\"");

        return $this;
    }

    /** Writes a line to its input. */
    public function tell(string $line): self
    {
        fwrite($this->input, "$line\n");

        return $this;
    }

    public function pid(): int
    {
        return proc_get_status($this->process)['pid'];
    }

    public function running(): bool
    {
        if ($this->exit === null) {
            $status = proc_get_status($this->process);
            $this->exit = $status['running'] ? null : ($status['signaled'] ? -$status['termsig'] : $status['exitcode']);
        }

        return $this->exit === null;
    }

    public function signal(int $signal): self
    {
        proc_terminate($this->process, $signal);

        return $this;
    }

    /** Closes its input and waits until it ends; its exit status, or minus the signal that ended it. */
    public function wait(float $seconds = 60): int
    {
        if ($this->input !== null) {
            fclose($this->input);
            $this->input = null;
        }
        until(fn () => !$this->running(), "the process ends, having printed: {$this->output()}", $seconds);

        return $this->exit;
    }

    public function __destruct()
    {
        if ($this->running()) {
            $this->signal(SIGKILL)->wait();
        }
    }
}
