<?php

declare(strict_types=1);

namespace App\Jobs;

use App\Record;
use Illuminate\Contracts\Queue\ShouldQueue;
use Illuminate\Foundation\Queue\Queueable;
use RuntimeException;
use Throwable;

/**
 * A job that records what becomes of it.
 */
class Job implements ShouldQueue
{
    use Queueable;

    /** Seconds before it is tried again. */
    public int $backoff = 1;

    /**
     * @param string $kind what the demo calls it
     * @param int $number which of its kind it is
     * @param int $failures how many attempts throw before one succeeds
     * @param int $tries how many attempts it has
     */
    public function __construct(
        public readonly string $kind,
        public readonly int $number,
        public readonly int $failures = 0,
        public int $tries = 1,
    ) {
    }

    public function handle(): void
    {
        if ($this->job->attempts() <= $this->failures) {
            Record::write($this->kind, $this->number, 'threw');
            throw new RuntimeException("attempt {$this->job->attempts()} of $this->kind $this->number throws");
        }

        Record::write($this->kind, $this->number, 'handled');
    }

    public function failed(Throwable $e): void
    {
        Record::write($this->kind, $this->number, 'died');
    }
}
