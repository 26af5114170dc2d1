<?php

declare(strict_types=1);

namespace App\Jobs;

use App\Record;
use Illuminate\Bus\Batchable;
use Illuminate\Bus\Queueable;
use Illuminate\Contracts\Queue\ShouldQueue;
use Illuminate\Foundation\Bus\Dispatchable;
use Illuminate\Queue\InteractsWithQueue;
use RuntimeException;
use Throwable;

/**
 * A job that does as it is told and records it: "NAME start ATTEMPT", "NAME done ATTEMPT", "NAME failed WHY".
 */
class Probe implements ShouldQueue
{
    use Batchable;
    use Dispatchable;
    use InteractsWithQueue;
    use Queueable;

    public ?int $tries = null;
    public ?int $maxExceptions = null;
    public ?int $timeout = null;
    public ?int $retryUntil = null;
    public bool $failOnTimeout = false;
    /** @var int|list<int>|null */
    public int|array|null $backoff = null;

    /**
     * @param string $script what to do, a word for each attempt; the last goes for all that follow. A word
     *     is a list of "ok", "throw", "fail", "delete", "release:SECONDS", "sleep:SECONDS" and
     *     "spin:SECONDS" (without ever yielding), with commas
     */
    public function __construct(public readonly string $name, public readonly string $script = 'ok')
    {
    }

    /**
     * @param array<string, mixed> $properties
     */
    public function with(array $properties): static
    {
        foreach ($properties as $property => $value) {
            $this->{$property} = $value;
        }

        return $this;
    }

    public function handle(): void
    {
        $attempt = $this->job->attempts();
        Record::write("$this->name start $attempt");

        $attempts = explode(' ', $this->script);
        foreach (explode(',', $attempts[min($attempt, count($attempts)) - 1]) as $step) {
            $this->step($attempt, ...explode(':', $step));
        }

        Record::write("$this->name done $attempt");
    }

    private function step(int $attempt, string $step, string $seconds = '0'): void
    {
        match ($step) {
            'ok' => null,
            'throw' => throw new RuntimeException("$this->name throws in attempt $attempt"),
            'fail' => $this->fail(new RuntimeException("$this->name fails in attempt $attempt")),
            'delete' => $this->delete(),
            'release' => $this->release((int) $seconds),
            'sleep' => $this->sleep((float) $seconds),
            'spin' => $this->spin((float) $seconds),
        };
    }

    public function failed(Throwable $e): void
    {
        Record::write("$this->name failed " . class_basename($e));
    }

    /** Survives the signals that end a sleep early. */
    private function sleep(float $seconds): void
    {
        for ($end = microtime(true) + $seconds; microtime(true) < $end;) {
            usleep(20_000);
        }
    }

    private function spin(float $seconds): void
    {
        for ($end = microtime(true) + $seconds; microtime(true) < $end;) {
        }
    }
}
