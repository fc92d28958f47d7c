"""The bias benchmark: passages planted to crowd out other views, and what each filter does about them.

Of "Epistemic Bias Injection" (Wu and Saxena, arXiv 2512.00804), sections 5 and 6.3. `bench.bench` runs all of
it: `corpora` and `attacks` read, `planting` encodes and plants, `asked` asks models, `numbers` measures, `report`
shows.
"""
